#!/usr/bin/env python3
"""Packages of Debian and of rpm that are built by a profile which is kept in them: with the
debhelper sequence and the macros of integrations/.

usage: packages.py PGOKIT SOURCE-FOLDER
"""

import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "runtime"))
from harness import Cases, Skip, require, run, tool  # noqa: E402

PGOKIT, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
PROGRAM = (SOURCE / "tests/recorder/programs/often_seldom.c").read_text(encoding="ascii")
MAKEFILE = """app: app.c
\t$(CC) $(CFLAGS) $(LDFLAGS) app.c -o $@
install: app
\tmkdir -p $(DESTDIR)/usr/bin && cp app $(DESTDIR)/usr/bin/
clean:
\trm -f app
"""
DEBIAN = {
    "control": """Source: app
Maintainer: Nobody <nobody@example.org>
Build-Depends: debhelper-compat (= 13)
Standards-Version: 4.6.2
Rules-Requires-Root: no

Package: app
Architecture: any
Description: runs often and seldom
 Twice.
""",
    "changelog": """app (1.0) unstable; urgency=low

  * First.

 -- Nobody <nobody@example.org>  Fri, 01 Mar 2024 00:00:00 +0000
""",
    "source/format": "3.0 (native)\n",
    "rules": "#!/usr/bin/make -f\n%:\n\tdh $@ --with pgokit\n",
}
SPEC = """Name: app
Version: 1.0
Release: 1
Summary: runs often and seldom
License: none
Source0: app.c
Source1: app.afdo
%global debug_package %{nil}
%description
Twice.
%prep
cp %{SOURCE0} .
%build
%pgokit_use -c gcc-12 %{SOURCE1}
gcc-12 $CFLAGS app.c -o app
%install
%pgokit_match -m 90 %{SOURCE1} app
install -D app %{buildroot}%{_bindir}/app
%files
%{_bindir}/app
"""
OVERRIDE = "override_dh_pgokit:\n\tdh_pgokit --min-match=90\n"
KEPT = {}  # profiles


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def profile(scratch):
    if not KEPT:
        folder = pathlib.Path(scratch, "recorded")
        folder.mkdir()
        write(folder / "app.c", PROGRAM)
        run([PGOKIT, "pgo", "--record", "-o", "app.afdo", "--cc", tool("gcc-12"), "--runs", "1",
             "--run", "./app 100000000", "--build", "$CC $CFLAGS $LDFLAGS app.c -o app"],
            str(folder))
        run([PGOKIT, "convert", "app.afdo", "--to", "text", "-o", "app.txt"], str(folder))
        KEPT["whole"] = (folder / "app.afdo").read_bytes()
        KEPT["of which much is gone"] = ((folder / "app.txt").read_bytes() +
                                         b"gone:900000000:1\n 1: 900000000\n")
    return KEPT


def helpers(folder):
    """The sequence and its command as a package would install them."""
    for name in ("dh", "dpkg-deb"):
        if not shutil.which(name):
            raise Skip(f"missing {name}")
    sequence = folder / "perl/Debian/Debhelper/Sequence"
    sequence.mkdir(parents=True)
    (sequence / "pgokit.pm").symlink_to(SOURCE / "integrations/debhelper/pgokit.pm")
    (folder / "bin").mkdir()
    (folder / "bin/dh_pgokit").symlink_to(SOURCE / "integrations/debhelper/dh_pgokit")
    (folder / "bin/pgokit").symlink_to(PGOKIT)
    return {"PERL5LIB": str(folder / "perl"), "CC": "gcc-12",
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def package(folder, kept):
    for name, content in DEBIAN.items():
        write(folder / "debian" / name, content)
    os.chmod(folder / "debian/rules", 0o755)
    write(folder / "Makefile", MAKEFILE)
    write(folder / "app.c", PROGRAM)
    (folder / "debian/pgokit").mkdir()
    (folder / "debian/pgokit/app.afdo").write_bytes(kept)


def debhelper(scratch):
    """Packages of two folders are the same, and not that without the profile."""
    scratch = pathlib.Path(scratch)
    env = helpers(scratch)
    made = []
    for name, options in (("one", ""), ("two", ""), ("three", "nopgo")):
        folder = scratch / name / "app-1.0"
        package(folder, profile(scratch)["whole"])
        done = run(["debian/rules", "binary"], str(folder),
                   env={**env, "DEB_BUILD_OPTIONS": options})
        said = done.stdout + done.stderr
        require(("-fauto-profile=" in said) == (options == ""), said)
        require(("of the samples found" in said) == (options == ""), said)
        require("-fstack-protector" in said, f"flags of dpkg are gone:\n{said}")
        (deb,) = (scratch / name).glob("app_1.0_*.deb")
        made.append(deb.read_bytes())
    require(made[0] == made[1], "the packages differ")
    require(made[1] != made[2], "the profile changed nothing")
    run(["debian/rules", "clean"], str(folder), env=env)
    require(not (folder / "debian/.debhelper").exists(), "something is left")


def limit(scratch):
    scratch = pathlib.Path(scratch)
    env = helpers(scratch)
    folder = scratch / "app-1.0"
    package(folder, profile(scratch)["of which much is gone"])
    with open(folder / "debian/rules", "a", encoding="ascii") as file:
        file.write(OVERRIDE)
    done = run(["debian/rules", "binary"], str(folder), status=None, env=env)
    require(done.returncode and "limit reached" in done.stderr, done.stdout + done.stderr)
    (folder / "debian/pgokit/app.afdo").write_text("no profile", encoding="ascii")
    done = run(["debian/rules", "build"], str(folder), status=None, env=env)
    require(done.returncode and "pgokit cannot make the profiles" in done.stderr, done.stderr)


def rpm(scratch):
    if not shutil.which("rpmbuild"):
        raise Skip("missing rpmbuild")
    folder = pathlib.Path(scratch)
    (folder / "SOURCES").mkdir()
    (folder / "bin").mkdir()
    (folder / "bin/pgokit").symlink_to(PGOKIT)
    write(folder / "SOURCES/app.c", PROGRAM)
    (folder / "SOURCES/app.afdo").write_bytes(profile(scratch)["whole"])
    argv = ["rpmbuild", "--load", str(SOURCE / "integrations/rpm/macros.pgokit"), "--nodeps",
            "--define", f"_topdir {folder}", "-bi"]
    env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": scratch}
    write(folder / "app.spec", SPEC)
    done = run([*argv, "app.spec"], scratch, env=env)
    require("of the samples found" in done.stdout and "-fauto-profile=" in done.stderr,
            done.stdout + done.stderr)
    done = run([*argv, "--without", "pgo", "app.spec"], scratch, env=env)
    require("-fauto-profile=" not in done.stderr and "samples" not in done.stdout, done.stderr)
    (folder / "SOURCES/app.afdo").write_bytes(profile(scratch)["of which much is gone"])
    done = run([*argv, "app.spec"], scratch, env=env, status=None)
    require(done.returncode and "limit reached" in done.stderr, done.stdout + done.stderr)


def main():
    cases = Cases()
    cases.run("debhelper", debhelper)
    cases.run("a limit of the match", limit)
    cases.run("rpm", rpm)
    cases.finish()


main()

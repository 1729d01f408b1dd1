#!/usr/bin/env python3
"""The steps for continuous integration in integrations/, run as GitHub and GitLab run them.

usage: ci_jobs.py PGOKIT SOURCE-FOLDER BUILD-FOLDER
"""

import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

from private_view import run_in_view  # noqa: E402
from runners import GitHub, GitLab, Job, Refused, gitlab_loader  # noqa: E402
from tap import Report  # noqa: E402

SCRIPTS = ("profile-check", "kept-profile", "push-profile", "install-pgokit")
HEAP = "golden/indexed/llvm22-v4.profdata"
OTHER_HEAP = "golden/heap-raw/handmade-over-time.profraw"
KILLED_HEAP = "golden/heap-raw/handmade-over-time-killed.profraw"
PARTIAL = "golden/partial/two-contexts.pgk"
SHOWN = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
PINNED = re.compile(r"uses: (actions/\S+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+$")
ON_MAIN = {"ref_name": "main", "run_attempt": "1", "sha": "c0ffee", "repository": "GROUP/app",
           "server_url": "https://github.com",
           "event": {"repository": {"default_branch": "main"}}}
IN_REQUEST = {**ON_MAIN, "ref_name": "7/merge"}
GITLAB = {"CI_DEFAULT_BRANCH": "main", "CI_JOB_NAME_SLUG": "profile", "CI_PROJECT_ID": "12",
          "CI_COMMIT_SHA": "c0ffee", "CI_JOB_URL": "https://gitlab.example.org/jobs/1"}
# A program whose second version allocates more, where its first one allocates it.
PROGRAM = """
#include <stdlib.h>
static void *keep(size_t size) { return malloc(size); }
int main(void) { return !keep(SIZE * 1000); }
"""
MAKEFILE = "app: app.c\n\t$(CC) $(CFLAGS) -O0 app.c -o app\n"


def expect(found, wanted, what):
    assert found == wanted, f"{what}: found {found!r}, expected {wanted!r}"


class Skipped(Exception):
    pass


class Tests:
    def __init__(self, pgokit, source, build, yaml):
        self.pgokit, self.source, self.build = pgokit, source, build
        self.folder = source / "integrations"
        self.yaml = lambda path: yaml.safe_load(path.read_text(encoding="utf-8"))
        self.loaded = lambda text: yaml.load(text, Loader=gitlab_loader(yaml))
        self.action = self.yaml(self.folder / "github-action/action.yml")
        self.gitlab = self.loaded((self.folder / "gitlab/pgokit.gitlab-ci.yml").read_text(
            encoding="utf-8"))
        self.page = (self.folder / "README.md").read_text(encoding="utf-8")
        self.scratch = tempfile.TemporaryDirectory(prefix="pgokit-ci-")
        self.jobs = 0

    def new_folder(self):
        self.jobs += 1
        folder = pathlib.Path(self.scratch.name, str(self.jobs))
        folder.mkdir()
        return folder

    def job(self):
        job = Job(self.new_folder(), f"{self.pgokit.parent}:{os.environ['PATH']}")
        (job.folder / "golden").symlink_to(self.source / "tests/golden")
        return job

    def github(self, job, where=None, **inputs):
        """Runs the action that checks, with a new repository or `where`."""
        where = where or GitHub(self.source, self.yaml, self.new_folder())
        where.github = where.github or {**ON_MAIN, "run_id": "1"}
        where.artifacts = {}
        return where.action(job, "github-action",
                            {name.replace("_", "-"): text for name, text in inputs.items()})

    def gitlab_job(self, job, **variables):
        """The job without what installs."""
        jobs = {".pgokit": {**self.gitlab[".pgokit"], "before_script": []}}
        (job.folder / ".pgokit").mkdir(exist_ok=True)
        (job.folder / ".pgokit/source").unlink(missing_ok=True)
        (job.folder / ".pgokit/source").symlink_to(self.source)
        return GitLab(self.new_folder()).run(job, jobs, ".pgokit", {
            **GITLAB, "CI_COMMIT_BRANCH": "main", **variables})

    # ---- GitHub ----

    def first_run_shows_the_profile(self):
        job = self.job()
        expect(self.github(job, profiles=HEAP, base="not-yet.profdata"), 0, job.said)
        assert "not-yet.profdata is not there" in job.said, job.said
        assert "## Heap profile\n" in job.read("summary.md"), job.read("summary.md")
        assert "<html" in job.read("pgokit-report.html"), "page"

    def a_kept_limit_lets_the_job_go_on(self):
        job = self.job()
        expect(self.github(job, profiles=HEAP, base=HEAP, fail_on="growth=10%\nnew=5%"), 0,
               job.said)
        summary = job.read("summary.md")
        assert "## Heap profiles compared" in summary, summary
        expect(re.findall(r"^\| (\w+=\d+%) .* (kept|\*\*reached\*\*) \|$", summary, re.M),
               [("growth=10%", "kept"), ("new=5%", "kept")], "limits")

    def a_reached_limit_fails_the_job_with_page_and_summary(self):
        job = self.job()
        expect(self.github(job, profiles=f"{HEAP}\n{OTHER_HEAP}", base=HEAP,
                           fail_on="growth=10%", merge_options="--partial", output="now.pgk"),
               3, job.said)
        assert "**reached**" in job.read("summary.md"), job.read("summary.md")
        assert "<html" in job.read("pgokit-report.html"), "page"
        assert (job.folder / "now.pgk").stat().st_size, "profile"

    def limits_on_what_is_left_at_exit_are_checked(self):
        """The merged profile holds it, and so does the base that such a job has written."""
        job = self.job()
        expect(self.github(job, profiles=OTHER_HEAP, base=HEAP, fail_on="exit=5%"), 2, job.said)
        assert f"exit=5% cannot be checked, because {HEAP} does not" in job.said, job.said
        expect(self.github(job, profiles=OTHER_HEAP, base="not-yet", fail_on="exit=5%",
                           output="base.profile"), 0, job.said)
        expect(self.github(job, profiles=OTHER_HEAP, base="base.profile",
                           fail_on="exit=5%\npeak=5%"), 0, job.said)
        expect(self.github(job, profiles=f"{OTHER_HEAP}\n{KILLED_HEAP}", base="base.profile",
                           fail_on="peak=5%"), 3, job.said)

    def the_history_of_the_default_branch_grows(self):
        """By a profile for each run, of which the newest is the base; requests add none."""
        where = GitHub(self.source, self.yaml, self.new_folder())
        runs = ((ON_MAIN, "c1", HEAP), (ON_MAIN, "c2", OTHER_HEAP), (IN_REQUEST, "c3", HEAP),
                (ON_MAIN, "c4", HEAP))
        for run, (github, commit, profile) in enumerate(runs):
            job = self.job()
            where.github = {**github, "run_id": str(run), "sha": commit}
            expect(self.github(job, where, profiles=profile, merge_options="--partial", keep="2"),
                   0, job.said)
            expect("## Heap profiles compared" in job.read("summary.md"), run > 0, "compared")
            shown = subprocess.run([self.pgokit, "history", "show", "--json",
                                    job.folder / "pgokit-history/pgokit"], check=True, text=True,
                                   capture_output=True).stdout
            expect(re.findall('"version":"(\\w+)"', shown),
                   [["c1"], ["c1", "c2"], ["c1", "c2"], ["c2", "c4"]][run], "versions")
        assert '"page":"https://github.com/GROUP/app/actions/runs/3"' in shown, shown

    def summaries_of_several_steps_stand_below_one_another(self):
        job = self.job()
        expect(self.github(job, profiles=HEAP), 0, job.said)
        expect(self.github(job, profiles=PARTIAL, merge_options="--partial", artifact="other"), 0,
               job.said)
        expect(job.read("summary.md").count("## Heap profile\n"), 2, "summaries")

    def patterns_may_have_blanks(self):
        job = self.job()
        (job.folder / "a b").mkdir()
        for name in ("one.prof", "two.prof"):
            shutil.copy(self.source / "tests/golden/sample/llvm22-text.prof",
                        job.folder / "a b" / name)
        expect(self.github(job, profiles="a b/*.prof\n\n", output="a b/all.afdo", report=""), 0,
               job.said)
        assert "## Sample profile\n" in job.read("summary.md"), job.read("summary.md")
        assert not (job.folder / "pgokit-report.html").exists(), "no page was asked for"
        one, both = (subprocess.run([self.pgokit, "show", "--json", job.folder / "a b" / name],
                                    check=True, capture_output=True, text=True).stdout
                     for name in ("one.prof", "all.afdo"))
        samples = lambda text: int(re.search(r'"total": ?(\d+)', text)[1])
        expect(samples(both), 2 * samples(one), "samples of both files")

    def counters_have_no_page(self):
        job = self.job()
        counters = "golden/instr-text/llvm22-vtables.proftext"
        expect(self.github(job, profiles=counters, base=counters), 0, job.said)
        assert "## Counters compared" in job.read("summary.md"), job.read("summary.md")
        assert not (job.folder / "pgokit-report.html").exists(), "page"

    def a_pattern_that_nothing_fits_is_an_error(self):
        job = self.job()
        expect(self.github(job, profiles="out/*.profraw"), 2, job.said)
        assert "no file fits PGOKIT_PROFILES: out/*.profraw" in job.said, job.said
        expect(self.github(job, profiles=""), 2, job.said)

    def failures_of_pgokit_are_those_of_the_job(self):
        job = self.job()
        (job.folder / "damaged").write_bytes(b"\x81rforpm\xff" + b"\0" * 40)
        expect(self.github(job, profiles="damaged"), 2, job.said)
        expect(self.github(job, profiles=HEAP, base=HEAP, fail_on="frob"), 2, job.said)
        expect(self.github(job, profiles=HEAP, pgokit="no-such-command"), 127, job.said)

    # ---- GitLab ----

    def gitlab_keeps_a_summary_of_this_run(self):
        job = self.job()
        (job.folder / "pgokit-summary.md").write_text("of an earlier run")
        expect(self.gitlab_job(job, PGOKIT_PROFILES=HEAP), 0, job.said)
        assert job.read("pgokit-summary.md").startswith("## Heap profile\n"), "summary"
        for name in self.gitlab[".pgokit"]["artifacts"]["paths"]:
            assert (job.folder / name).exists(), name

    def gitlab_comments_on_the_merge_request(self):
        notes = []

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                notes.append((self.path, self.headers["PRIVATE-TOKEN"],
                              urllib.parse.parse_qs(body)["body"][0]))
                self.send_response(201)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        job = self.job()
        given = {"PGOKIT_PROFILES": f"{HEAP}\n{OTHER_HEAP}", "PGOKIT_BASE": HEAP,
                 "PGOKIT_FAIL_ON": "growth=10%", "PGOKIT_MERGE_OPTIONS": "--partial",
                 "CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_ID": "12",
                 "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4"}
        expect(self.gitlab_job(job, **given), 3, job.said)
        expect(notes, [], "no comment without a token")
        expect(self.gitlab_job(job, PGOKIT_NOTE_TOKEN="secret", **given), 3, job.said)
        server.shutdown()
        expect(notes, [("/api/v4/projects/12/merge_requests/7/notes", "secret",
                        job.read("pgokit-summary.md"))], "comment")

    # ---- a profile that is kept ----

    def kept_job(self):
        """A repository with a program, and a remote one that takes pushes."""
        job, remote = self.job(), self.new_folder() / "remote.git"
        shutil.copy(self.source / "tests/recorder/programs/often_seldom.c", job.folder / "app.c")
        (job.folder / "Makefile").write_text("app: app.c\n\t$(CC) $(CFLAGS) app.c -o app\n",
                                             encoding="utf-8")
        for command in (["init", "--quiet", "--bare", remote], ["init", "--quiet"],
                        ["remote", "add", "origin", remote],
                        ["-C", remote, "config", "receive.advertisePushOptions", "true"]):
            subprocess.run(["git", *command], cwd=job.folder, check=True, capture_output=True)
        return job, remote

    def pushed(self, remote, path):
        return subprocess.run(["git", "-C", remote, "show", f"pgokit-profile:{path}"], check=True,
                              capture_output=True, text=True).stdout

    def a_kept_profile_is_recorded_pushed_and_used(self):
        job, remote = self.kept_job()
        given = {"profile": "pgo/app.txt", "options": "--gcc\n--runs=1\n",
                 "run": "./app 100000000"}
        record = lambda: GitHub(self.source, self.yaml, self.new_folder()).action(
            job, "github-kept-profile", {**given, "record": "true"})
        use = lambda: GitHub(self.source, self.yaml, self.new_folder()).action(
            job, "github-kept-profile", {**given, "min-match": "90"})
        expect(record(), 0, job.said)
        expect(self.pushed(remote, "pgo/app.txt"), job.read("pgo/app.txt"), "what was pushed")
        assert "## Sample profile\n" in job.read("summary.md"), job.read("summary.md")
        expect(use(), 0, job.said)
        assert re.search(r"^## The profile pgo/app.txt\n\n- [\d.]+ % of the samples",
                         job.read("summary.md"), re.M), job.read("summary.md")
        expect(record(), 0, job.said)
        assert "## Sample profiles compared" in job.read("summary.md"), job.read("summary.md")
        with open(job.folder / "pgo/app.txt", "a", encoding="utf-8") as file:
            file.write("gone:900000000:1\n 1: 900000000\n")
        expect(use(), 3, job.said)
        assert "limit reached" in job.said and "code that is not there" in job.read("summary.md")

    def gitlab_records_by_a_schedule(self):
        job, remote = self.kept_job()
        (job.folder / ".pgokit").mkdir()
        (job.folder / ".pgokit/source").symlink_to(self.source)
        jobs = {**self.gitlab, ".pgokit": {**self.gitlab[".pgokit"], "before_script": []}}
        given = {**GITLAB, "PGOKIT_KEPT": "pgo/app.txt", "PGOKIT_KEPT_RUN": "./app 100000000",
                 "PGOKIT_KEPT_OPTIONS": "--gcc\n--runs=1", "PGOKIT_PUSH_URL": str(remote)}
        where = GitLab(self.new_folder())
        status = where.run(job, jobs, ".pgokit-kept-profile",
                           {**given, "CI_PIPELINE_SOURCE": "schedule"})
        expect(status, 0, job.said)
        expect(self.pushed(remote, "pgo/app.txt"), job.read("pgo/app.txt"), "what was pushed")
        expect(where.run(job, jobs, ".pgokit-kept-profile", {**given, "CI_COMMIT_BRANCH": "main"}),
               0, job.said)
        assert "## The profile" in job.read("pgokit-summary.md"), job.said

    # ---- from an empty repository ----

    def repository(self, size):
        folder = self.new_folder()
        (folder / "app.c").write_text(f"#define SIZE {size}\n{PROGRAM}", encoding="utf-8")
        (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
        return folder

    def clean_job(self):
        """On a runner that has what its image has, where the program's packages are there."""
        tools = self.new_folder()
        (tools / "apt-get").write_text("#!/bin/sh\necho apt-get $*\n", encoding="utf-8")
        (tools / "apt-get").chmod(0o755)
        return Job(self.new_folder(), f"{tools}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")

    def built(self, folder):
        """What install-pgokit would have built in an earlier run."""
        key = subprocess.run([self.folder / "install-pgokit", "--key"], check=True, text=True,
                             capture_output=True).stdout.strip()
        place, root = folder / key, self.new_folder()
        place.mkdir(parents=True)
        subprocess.run(["meson", "install", "-C", self.build, "--no-rebuild", "--quiet",
                        "--destdir", root], check=True, capture_output=True)
        for path in root.rglob("*.a"):  # which no job needs, and unpacking which takes long
            path.unlink()
        subprocess.run(["strip", "-g", *root.rglob("bin/pgokit"), *root.rglob("libpgokit*.so")],
                       check=True)
        (place / "packages").write_text("", encoding="utf-8")
        subprocess.run(["tar", "-C", root, "-czf", place / "pgokit.tar.gz", "."], check=True,
                       env={**os.environ, "GZIP": "-1"})
        return key

    def limits_in(self, summary):
        return re.findall(r"^\| (\w+=\d+%) .* (kept|\*\*reached\*\*) \|$", summary, re.M)

    def view_github_from_an_empty_repository(self):
        """README's workflow: a push, a pull request that allocates more, which is merged, and
        another push."""
        where = GitHub(self.source, self.yaml, self.new_folder())
        workflow = self.yaml_of_page("name: profile\n")
        key = self.built(where.folder / "built")
        where.cache.save(key, [where.local("/tmp/pgokit-build")], pathlib.Path("/"))
        found = []
        for run, (github, size) in enumerate(((ON_MAIN, 1), (IN_REQUEST, 2), (ON_MAIN, 2),
                                              (ON_MAIN, 2))):
            job = self.clean_job()
            status = where.workflow(job, workflow, {**github, "run_id": str(run)},
                                    self.repository(size))
            summary = job.read("summary.md")
            found.append((status, *self.limits_in(summary)))
            assert "pgokit-report.html)" in summary, f"{status} {job.said} {summary}"
            of_main = ["pgokit-history.html"] if github is ON_MAIN else []
            expect(sorted(where.artifacts), ["pgokit", *of_main, "pgokit-report.html"],
                   "artifacts")
        kept, reached = ("growth=10%", "kept"), ("growth=10%", "**reached**")
        expect(found, [(0,), (3, reached), (3, reached), (0, kept)], "runs")

    def view_gitlab_from_an_empty_repository(self):
        """README's file: the default branch, a merge request that allocates more, a branch."""
        where, clone = GitLab(self.new_folder()), self.new_folder() / "pgokit"
        self.clone_of_tree(clone)
        jobs = {**self.gitlab, **self.loaded(SHOWN.findall(self.page)[1])}
        built = self.new_folder()
        self.built(built / ".pgokit/build")
        where.cache.save("pgokit-v0.1.0", [".pgokit/build/"], built)
        found = []
        for given, size in (({"CI_COMMIT_BRANCH": "main"}, 1),
                            ({"CI_PIPELINE_SOURCE": "merge_request_event"}, 2),
                            ({"CI_COMMIT_BRANCH": "other"}, 2),
                            ({"CI_COMMIT_BRANCH": "main"}, 1)):
            job = self.clean_job()
            shutil.copytree(self.repository(size), job.folder, dirs_exist_ok=True)
            status = where.run(job, jobs, "profile", {
                **GITLAB, **given, "PGOKIT_SOURCE": f"file://{clone}"})
            if status is not None:
                of_main = ["pgokit-history.html"] if "CI_COMMIT_BRANCH" in given else []
                expect(sorted(where.artifacts), [*of_main, "pgokit-report.html",
                                                 "pgokit-summary.md", "pgokit.profile"],
                       f"artifacts: {job.said}")
            found.append((status, *self.limits_in(job.read("pgokit-summary.md"))))
        kept, reached = ("growth=10%", "kept"), ("growth=10%", "**reached**")
        expect(found, [(0,), (3, reached), (None,), (0, kept)], "runs")

    def clone_of_tree(self, clone):
        """A repository with the release; only what installing reads."""
        left_out = (".git", "build", "tests", "fuzz", "bench")
        shutil.copytree(self.source, clone, symlinks=True, ignore=lambda folder, names: [
            name for name in names if name in ("__pycache__", "node_modules") or
            folder == str(self.source) and name.startswith(left_out)])
        for command in (["init", "--quiet", "--initial-branch", "main"],
                        ["config", "core.compression", "0"], ["config", "pack.window", "0"],
                        ["add", "--all"],
                        ["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "r"],
                        ["tag", "v0.1.0"]):
            subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True)

    def packages_are_installed_instead(self):
        job = self.clean_job()
        (job.folder / "a b").mkdir()
        (job.folder / "a b/pgokit_1.deb").write_text("", encoding="utf-8")
        (job.folder / "pgokit").write_text("#!/bin/sh\necho of a package\n")
        (job.folder / "pgokit").chmod(0o755)
        job.env["PATH"] = f"{job.folder}:{job.env['PATH']}"
        where = GitHub(self.source, self.yaml, self.new_folder())
        if os.geteuid() != 0:
            raise Skipped("needs root")
        expect(where.action(job, "github-install", {"packages": "a b/*.deb\n"}), 0, job.said)
        assert re.search(r"apt-get .*install .*/a b/pgokit_1\.deb\nof a pack", job.said), job.said
        expect(where.action(job, "github-install", {"packages": "none*.deb"}), 2, job.said)

    # ---- both ----

    def yaml_of_page(self, part):
        (text,) = [text for text in SHOWN.findall(self.page) if part in text]
        return self.loaded(text)

    def shellcheck_has_nothing_to_say(self):
        scripts = [(self.folder / name).read_text(encoding="utf-8")
                   for name in SCRIPTS]
        actions = [self.yaml(path) for path in sorted(self.folder.glob("github-*/action.yml"))]
        scripts += ["#!/bin/bash\n" + step["run"] for action in actions
                    for step in action["runs"]["steps"] if "run" in step]
        scripts += ["#!/bin/bash\n" + "\n".join(job[part]) for job in self.gitlab.values()
                    for part in ("before_script", "script", "after_script") if part in job]
        for script in scripts:
            done = subprocess.run(["shellcheck", "-"], input=script, text=True, check=False,
                                  capture_output=True)
            expect(done.stdout, "", "shellcheck")

    def actions_are_pinned_to_one_release_each(self):
        pins = {}
        for path in (self.folder / "README.md", *self.folder.glob("github-*/action.yml")):
            for line in path.read_text(encoding="utf-8").splitlines():
                if "uses: actions/" in line:
                    pin = PINNED.search(line)
                    assert pin, f"{path}: {line}"
                    pins.setdefault("/".join(pin[1].split("/")[:2]), set()).add(pin[2])
        assert len(pins) == 3 and all(len(hashes) == 1 for hashes in pins.values()), pins

    def what_vendors_refuse_is_refused(self):
        """The runners here are no proof if they take everything."""
        job = self.job()
        where = GitHub(self.source, self.yaml, self.new_folder())
        for step in ({"uses": "actions/checkout@v4"}, {"uses": "other/action@v1"},
                     {"run": "true", "iff": "true"}, {"run": "true", "if": "${{ no.such }}"}):
            try:
                where.steps(job, [step], {})
            except Refused:
                continue
            raise AssertionError(f"{step} is taken")
        exposed = {**self.gitlab[".pgokit"], "before_script": [], "script": ["true"], "rules": []}
        del exposed["rules"]
        exposed["artifacts"] = {"expose_as": "a", "paths": ["$PGOKIT_REF"]}
        try:
            GitLab(self.new_folder()).run(job, {"j": exposed}, "j", GITLAB)
        except Refused:
            return
        raise AssertionError("a variable is taken in a path that is exposed")

    def variables_are_described(self):
        rows = dict(re.findall(r"^\| `(PGOKIT\w*)` \| (?:`([\w-]+)`)? ?\|", self.page, re.M))
        scripts = "".join((self.folder / name).read_text(encoding="utf-8")
                          for name in SCRIPTS)
        used = set(re.findall(r"\$\{(PGOKIT\w*)[:}-]", scripts))
        expect(sorted(rows), sorted(used), "variables")
        steps = [step for name in ("github-action", "github-install", "github-kept-profile")
                 for step in self.yaml(self.folder / name / "action.yml")["runs"]["steps"]]
        passed = {name: text for step in steps for name, text in step.get("env", {}).items()
                  if name in rows}
        for name, text in passed.items():
            assert f"inputs.{rows[name]} " in text, f"{name}: {text}"
        expect(sorted(passed), sorted(name for name in rows if rows[name]), "passed")
        kept = self.yaml(self.folder / "github-kept-profile/action.yml")
        expect({*filter(None, rows.values()), "artifact"},
               {*self.action["inputs"], *kept["inputs"], "packages"}, "inputs")


def case_names():
    return [name for name, member in vars(Tests).items() if callable(member) and name[0] != "_" and
            name not in ("job", "github", "gitlab_job", "new_folder", "repository", "clean_job",
                         "built", "limits_in", "clone_of_tree", "yaml_of_page", "kept_job",
                         "pushed")]


def in_a_view(name):
    """Runs a case by itself, where it may install."""
    done, reason = run_in_view(sys.executable, __file__, *sys.argv[1:4], name)
    if not done:
        raise Skipped(reason)
    assert done.returncode == 0, done.stdout + done.stderr


def run_case(tests, name, report):
    title = name.removeprefix("view_").replace("_", " ")
    needs = {"shellcheck_has_nothing_to_say": "shellcheck",
             "gitlab_comments_on_the_merge_request": "curl"}
    if name in needs and not shutil.which(needs[name]):
        report.skip(title, f"missing {needs[name]}")
        return
    problems = []
    try:
        if name.startswith("view_"):
            in_a_view(name)
        else:
            getattr(tests, name)()
    except Skipped as reason:
        report.skip(title, reason)
        return
    except (AssertionError, Refused) as failure:
        problems = [failure]
    report.case(title, problems)


def main():
    pgokit, source, build = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    report = Report()
    try:
        import yaml
    except ImportError:
        for name in case_names():
            report.skip(name.replace("_", " "), "missing python3-yaml")
        report.end()
    tests = Tests(pgokit, source, build, yaml)
    if sys.argv[4:]:
        getattr(tests, sys.argv[4])()
        return
    for name in case_names():
        run_case(tests, name, report)
    report.end()


main()

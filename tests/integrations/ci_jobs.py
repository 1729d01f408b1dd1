#!/usr/bin/env python3
"""The steps for continuous integration in integrations/, run as GitHub and GitLab run them.

usage: ci_jobs.py PGOKIT SOURCE-FOLDER
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

from tap import Report  # noqa: E402

INSTALLED = "/usr/share/pgokit"
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
HEAP = "golden/indexed/llvm22-v4.profdata"
OTHER_HEAP = "golden/heap-raw/handmade-over-time.profraw"
PARTIAL = "golden/partial/two-contexts.pgk"


def expect(found, wanted, what):
    assert found == wanted, f"{what}: found {found!r}, expected {wanted!r}"


class Job:
    """A folder in which steps run, with what they wrote."""

    def __init__(self, pgokit, source):
        self.room = tempfile.TemporaryDirectory(prefix="pgokit-ci-")
        self.folder = pathlib.Path(self.room.name)
        (self.folder / "golden").symlink_to(source / "tests/golden")
        self.summary = self.folder / "summary.md"
        self.env = {"PATH": f"{pgokit.parent}:{os.environ['PATH']}", "HOME": str(self.folder)}

    def run(self, script, **variables):
        done = subprocess.run([*SHELL, "-c", script], cwd=self.folder, capture_output=True,
                              text=True, check=False, env={**self.env, **variables})
        self.said = done.stdout + done.stderr
        return done.returncode

    def read(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


class Tests:
    def __init__(self, pgokit, source, yaml):
        self.pgokit, self.source = pgokit, source
        self.folder = source / "integrations"
        load = lambda name: yaml.safe_load((self.folder / name).read_text(encoding="utf-8"))
        self.action = load("github-action/action.yml")
        self.gitlab = load("gitlab/pgokit.gitlab-ci.yml")[".pgokit"]

    def job(self):
        return Job(self.pgokit, self.source)

    def github(self, job, **inputs):
        """Runs the steps of the action that are scripts; the status of the first that fails."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        unknown = given.keys() - self.action["inputs"]
        assert not unknown, unknown
        values = {name: given.get(name, row.get("default", ""))
                  for name, row in self.action["inputs"].items()}

        def fill(text):
            return re.sub(r"\$\{\{ *inputs\.([\w-]+) *\}\}", lambda m: values[m[1]], text)

        for step in self.action["runs"]["steps"]:
            if "run" not in step:
                continue
            variables = {name: fill(text) for name, text in step["env"].items()}
            status = job.run(step["run"], **variables, GITHUB_STEP_SUMMARY=str(job.summary),
                             GITHUB_ACTION_PATH=str(self.folder / "github-action"))
            if status:
                return status
        return 0

    def gitlab_job(self, job, **variables):
        """Its script, then what follows whether that failed or not."""
        given = {**self.gitlab["variables"], **variables}
        local = lambda lines: "\n".join(lines).replace(INSTALLED, str(self.folder))
        status = job.run(local(self.gitlab["script"]), **given)
        said = job.said
        after = job.run(local(self.gitlab["after_script"]), **given)
        expect(after, 0, f"after_script: {job.said}")
        job.said = said
        return status

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

    def summaries_of_several_steps_stand_below_one_another(self):
        job = self.job()
        expect(self.github(job, profiles=HEAP), 0, job.said)
        expect(self.github(job, profiles=PARTIAL, merge_options="--partial"), 0, job.said)
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
        kept = [self.gitlab["variables"][path.removeprefix("$")]
                for path in self.gitlab["artifacts"]["paths"]]
        expect(len(kept), 3, "artifacts")
        for name in kept:
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

    # ---- both ----

    def shellcheck_has_nothing_to_say(self):
        scripts = [(self.folder / "profile-check").read_text(encoding="utf-8")]
        scripts += ["#!/bin/bash\n" + step["run"] for step in self.action["runs"]["steps"]
                    if "run" in step]
        scripts += ["#!/bin/bash\n" + "\n".join(self.gitlab[part])
                    for part in ("script", "after_script")]
        for script in scripts:
            done = subprocess.run(["shellcheck", "-"], input=script, text=True, check=False,
                                  capture_output=True)
            expect(done.stdout, "", "shellcheck")

    def variables_are_described(self):
        page = (self.folder / "README.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(PGOKIT\w*)` \| (?:`([\w-]+)`)? ?\|", page, re.M))
        script = (self.folder / "profile-check").read_text(encoding="utf-8")
        expect(sorted(rows), sorted(set(re.findall(r"\$\{(PGOKIT\w*)[:}-]", script))), "variables")
        inputs = {rows[name]: f"${{{{ inputs.{rows[name]} }}}}" for name in rows if rows[name]}
        passed = {name: text for name, text in self.action["runs"]["steps"][0]["env"].items()}
        expect({rows[name]: text for name, text in passed.items()}, inputs, "inputs")
        expect(sorted([*inputs, "artifact"]), sorted(self.action["inputs"]), "inputs")


def main():
    pgokit, source = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    report = Report()
    cases = [name for name in vars(Tests) if name[0] != "_" and
             name not in ("job", "github", "gitlab_job")]
    try:
        import yaml
    except ImportError:
        for name in cases:
            report.skip(name.replace("_", " "), "missing python3-yaml")
        report.end()
    tests = Tests(pgokit, source, yaml)
    needs = {"shellcheck_has_nothing_to_say": "shellcheck",
             "gitlab_comments_on_the_merge_request": "curl"}
    for name in cases:
        problems = []
        if name in needs and not shutil.which(needs[name]):
            report.skip(name.replace("_", " "), f"missing {needs[name]}")
            continue
        try:
            getattr(tests, name)()
        except AssertionError as failure:
            problems = [failure]
        report.case(name.replace("_", " "), problems)
    report.end()


main()

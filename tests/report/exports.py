#!/usr/bin/env python3
"""What `pgokit report --format` and `pgokit convert --to` write, read by others: pprof, its
published schema, and plain readers of JSON and CSV. The figures are those of `pgokit show --json`.

usage: exports.py PGOKIT
"""

import collections
import csv
import gzip
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Debian's modules belong to Debian's Python, which need not be the first one in PATH.
DEBIAN_PYTHON = "/usr/bin/python3"
HAS_PROTOBUF = bool(importlib.util.find_spec("google"))
if not HAS_PROTOBUF and os.path.exists(DEBIAN_PYTHON) and \
        os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON):
    os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

import emulated  # noqa: E402
from tap import Report  # noqa: E402

GOLDEN = HERE.parent / "golden"
# Names, inlined frames and values near the limits; a name that ends a frame in folded stacks, one
# that spreadsheets would take for a formula.
YAML = """---
HeapProfileRecords:
  - GUID: 0x1
    AllocSites:
      - Callstack:
          - {{ Function: 0x1, LineOffset: 4, Column: 19, IsInlineFrame: true }}
          - {{ Function: 0x2, LineOffset: 7, Column: 3, IsInlineFrame: true }}
          - {{ Function: 0x3, LineOffset: 1, Column: 0, IsInlineFrame: false }}
          - {{ Function: 0x4, LineOffset: 9, Column: 5, IsInlineFrame: false }}
        MemInfoBlock: {{ AllocCount: 10, TotalAccessCount: 70, TotalSize: 1000,
                         TotalLifetime: 25000, TotalLifetimeAccessDensity: 100 }}
      - Callstack:
          - {{ Function: 0x1, LineOffset: 5, Column: 19, IsInlineFrame: false }}
          - {{ Function: 0x4, LineOffset: 9, Column: 5, IsInlineFrame: false }}
        MemInfoBlock: {{ AllocCount: 1, TotalAccessCount: 0, TotalSize: {huge},
                         TotalLifetime: 1, TotalLifetimeAccessDensity: 0 }}
    CallSites: []
...
"""
# A function called from two places of another, code inlined into it, and a name of Go's pprof's
# own making.
CONTEXTS = """\
[main:3 @ parse]:60:6
 1: 50
 2: next:10
  1: 10
[main:4.1 @ parse]:20:2
 1: 20
[main]:30:1
 3: 10 parse:10
 4.1: 20 parse:20
"""
FLAT = """\
main:3000:10
 1: 100
 4: 400
 10: a;b:1000
  1: 900
  3: deep:60
   1: 60
=cmd:2000:500
 2: 2000
"""
HUGE = 2**63 + 5
WEIGHTS = ("bytes", "count", "accesses", "lifetime-bytes")
FIELDS = ("TotalSize", "AllocCount", "TotalAccessCount")


class Skip(Exception):
    """A reader is not there."""


def expect(found, wanted, what):
    assert found == wanted, f"{what}: found {found!r}, expected {wanted!r}"


class Exports:
    def __init__(self, pgokit, folder):
        self.pgokit, self.folder = emulated.started(pgokit), folder
        self.small = folder / "small.yaml"
        self.small.write_text(YAML.format(huge=HUGE), encoding="utf-8")
        self.indexed = GOLDEN / "indexed" / "llvm22-v4-full.profdata"
        self.raw = GOLDEN / "heap-raw" / "clang22.profraw"
        self.over_time = GOLDEN / "heap-raw" / "handmade-over-time.profraw"
        self.sampled = GOLDEN / "heap-raw" / "handmade-sampled.profraw"
        self.contexts_path, self.flat = folder / "contexts.prof", folder / "flat.prof"
        self.contexts_path.write_text(CONTEXTS, encoding="utf-8")
        self.flat.write_text(FLAT, encoding="utf-8")
        self.samples = (self.contexts_path, self.flat, GOLDEN / "sample" / "llvm22-vtables.afdo",
                        GOLDEN / "sample" / "llvm22-probes-split.afdo")

    def run(self, *args):
        return subprocess.run([*self.pgokit, *map(str, args)], check=True,
                              capture_output=True).stdout

    def nodes(self, profile):
        """Stacks of a sample profile, outermost first, each with its lines and their samples."""
        found = []

        def walk(node, above):
            stack = (*above, node["name"])
            found.append((stack, [(at["line"], at.get("samples", 0)) for at in node["lines"]]))
            for inlinee in node.get("inlinees", []):
                walk(inlinee, stack)
        for f in json.loads(self.run("show", "--json", profile))["functions"]:
            walk(f, tuple(caller["name"] for caller in reversed(f.get("callers", []))))
        return found

    def export(self, profile, name, *args):
        return self.run("report", "-q", profile, "--format", name, *args)

    def contexts(self, profile):
        return json.loads(self.run("show", "--json", profile))["contexts"]

    # ---- pprof ----

    def schema(self):
        if not shutil.which("protoc") or not HAS_PROTOBUF:
            raise Skip("missing protoc or python3-protobuf")
        subprocess.run(["protoc", f"-I{HERE}", f"--python_out={self.folder}", "profile.proto"],
                       check=True)
        sys.path.insert(0, str(self.folder))
        import profile_pb2  # noqa: E402, made above
        return profile_pb2

    def decoded(self, path):
        profile = self.schema().Profile()
        profile.ParseFromString(gzip.decompress(self.export(path, "pprof")))
        return profile

    def pprof_follows_its_schema(self):
        for path in (self.small, self.indexed, self.raw):
            p, contexts = self.decoded(path), self.contexts(path)
            text = p.string_table
            expect(text[0], "", "the first string")
            expect([(text[t.type], text[t.unit]) for t in p.sample_type][:3],
                   [("alloc_space", "bytes"), ("alloc_objects", "count"), ("accesses", "count")],
                   "sample types")
            expect(text[p.default_sample_type], "alloc_space", "default")
            expect(len(p.sample), len(contexts), "samples")
            locations = {l.id: l for l in p.location}
            functions = {f.id: f for f in p.function}
            expect(len(locations), len(p.location), "ids of locations")
            for sample, context in zip(p.sample, contexts):
                for i, field in enumerate(FIELDS):
                    expect(sample.value[i], min(context["mib"].get(field, 0), 2**63 - 1), field)
                frames = [line for l in sample.location_id for line in locations[l].line]
                if "address" in context["stack"][0]:
                    expect([locations[l].address for l in sample.location_id],
                           [int(f["address"], 16) for f in context["stack"]], "addresses")
                    expect({text[m.build_id] for m in p.mapping},
                           {f["build_id"] for c in contexts for f in c["stack"]}, "build ids")
                else:
                    expect(len(frames), len(context["stack"]), "frames")
                    expect([text[functions[f.function_id].name] for f in frames],
                           [f"function {f['guid']}" for f in context["stack"]], "functions")

    def pprof_puts_inlined_frames_into_one_location(self):
        p = self.decoded(self.small)
        lines = {l.id: len(l.line) for l in p.location}
        expect([[lines[l] for l in s.location_id] for s in p.sample], [[3, 1], [1, 1]],
               "frames of each location")

    def pprof_has_what_was_in_use(self):
        p, contexts = self.decoded(self.over_time), self.contexts(self.over_time)
        text = p.string_table
        types = [text[t.type] for t in p.sample_type]
        for name, field in (("alloc_space", "TotalSize"), ("inuse_space", "ExitSize"),
                            ("inuse_objects", "ExitCount"), ("peak_space", "PeakSize"),
                            ("peak_objects", "PeakCount")):
            expect([s.value[types.index(name)] for s in p.sample],
                   [c["mib"][field] for c in contexts], name)
        assert "inuse_space" not in [self.decoded(self.raw).string_table[t.type]
                                     for t in self.decoded(self.raw).sample_type], "not known"

    def pprof_says_how_it_was_sampled(self):
        profile = self.decoded(self.sampled)
        text = profile.string_table
        expect((text[profile.period_type.type], text[profile.period_type.unit], profile.period),
               ("space", "bytes", 4096), "period")
        assert "sampled: values are estimates of all objects and accesses" in \
            [text[c] for c in profile.comment], "comment"
        expect(sum(s.value[0] for s in profile.sample),
               sum(c["mib"]["TotalSize"] for c in self.contexts(self.sampled)), "estimates")
        expect((self.decoded(self.over_time).period, self.decoded(self.raw).period), (0, 0),
               "of exact ones")

    def pprof_of_go_reads_it(self):
        if not shutil.which("go"):
            raise Skip("missing go tool pprof")
        for path in (self.small, self.indexed, self.raw):
            (self.folder / "heap.pb.gz").write_bytes(self.export(path, "pprof"))
            top = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                                  "-sample_index=alloc_space", "heap.pb.gz"], cwd=self.folder,
                                 check=True, capture_output=True, text=True,
                                 env={**os.environ, "HOME": str(self.folder)}).stdout
            total = min(sum(min(c["mib"]["TotalSize"], 2**63 - 1) for c in self.contexts(path)),
                        2**63 - 1)
            said = re.search(r"([\d.e+]+)B total", top)
            assert said, top
            if path != self.small:  # sums beyond 63 bits are pprof's own matter
                expect(float(said[1]), total, "bytes in all")

    # ---- Markdown ----

    def pandoc_reads_markdown(self):
        if not shutil.which("pandoc"):
            raise Skip("missing pandoc")
        names = ["op|er`ator", "<b>_x_</b>", "a\\b", "x[a](b)*c*", "``"]
        profile = self.folder / "names.prof"
        profile.write_text("".join(f"{name}:{9 - i}0:1\n 1: {9 - i}\n"
                                   for i, name in enumerate(names)))
        said = subprocess.run(["pandoc", "-f", "gfm", "-t", "json"], check=True,
                              capture_output=True, input=self.export(profile, "markdown")).stdout
        tables = [block["c"] for block in json.loads(said)["blocks"] if block["t"] == "Table"]
        cells = [row[1][-1][-1] for row in tables[1][4][0][3]]
        expect([[(inline["t"], inline["c"][1]) for block in cell for inline in block["c"]]
                for cell in cells], [[("Code", name)] for name in names], "names")

    # ---- others ----

    def folded_stacks_add_up(self):
        for path in (self.small, self.indexed):
            contexts = self.contexts(path)
            for weight, field in zip(WEIGHTS, FIELDS):
                lines = self.export(path, "folded", "--weight", weight).decode().splitlines()
                expect(sum(int(line.rpartition(" ")[2]) for line in lines),
                       sum(c["mib"][field] for c in contexts), weight)
                wanted = [";".join(f"function {f['guid']}" for f in reversed(c["stack"]))
                          for c in contexts if c["mib"][field]]
                expect([line.rpartition(" ")[0] for line in lines], wanted, "stacks")

    def folded_stacks_by_lifetime(self):
        lines = self.export(self.small, "folded", "--weight", "lifetime-bytes").decode()
        # 1000 B for 25000 ms / 10 objects on average
        assert lines.splitlines()[0].endswith(" 2500"), lines

    def speedscope_file_is_sound(self):
        for path in (self.small, self.indexed, self.raw):
            data, contexts = json.loads(self.export(path, "speedscope")), self.contexts(path)
            frames = data["shared"]["frames"]
            assert data["$schema"].endswith("file-format-schema.json"), data["$schema"]
            expect([p["name"] for p in data["profiles"]], list(WEIGHTS), "profiles")
            for profile, field in zip(data["profiles"], FIELDS):
                expect(profile["type"], "sampled", "type")
                expect(profile["weights"], [c["mib"].get(field, 0) for c in contexts], field)
                expect(float(profile["endValue"]), float(sum(profile["weights"])), "end")
                expect([len(s) for s in profile["samples"]],
                       [len(c["stack"]) for c in contexts], "depths")
                assert all(i < len(frames) for s in profile["samples"] for i in s), "frame index"
            if path != self.raw:
                stack = [frames[i]["name"] for i in data["profiles"][0]["samples"][0]]
                expect(stack, [f"function {f['guid']}" for f in reversed(contexts[0]["stack"])],
                       "outermost first")

    def csv_has_a_row_per_context(self):
        for path in (self.small, self.indexed, self.raw):
            text = self.export(path, "csv").decode()
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            contexts = self.contexts(path)
            expect(len(rows), len(contexts), "rows")
            for row, context in zip(rows, contexts):
                expect(int(row["TotalSize (B)"]), context["mib"]["TotalSize"], "bytes")
                expect(row["stack"].count(" <- ") + 1, len(context["stack"]), "frames")
                expect(row["label"], context["label"], "label")

    def json_is_that_of_show(self):
        expect(self.export(self.indexed, "json"), self.run("show", "--json", self.indexed), "JSON")

    def same_bytes_every_time(self):
        for path in (self.indexed, *self.samples):
            for name in ("html", "pprof", "folded", "speedscope", "csv", "json"):
                first = self.export(path, name, "-o", "-")
                expect(self.export(path, name, "-o", "-") == first and bool(first), True, name)

    def a_wrong_format_is_refused(self):
        done = subprocess.run([*self.pgokit, "report", self.indexed, "--format", "pdf"],
                              check=False, capture_output=True, text=True)
        expect(done.returncode, 2, "exit status")
        assert "speedscope" in done.stderr, done.stderr

    def an_output_that_cannot_be_written_is_refused(self):
        done = subprocess.run([*self.pgokit, "report", self.indexed, "-o", "/proc/none/x.html"],
                              check=False, capture_output=True, text=True)
        expect(done.returncode, 2, "exit status")
        assert "/proc/none" in done.stderr, done.stderr

    # ---- sample profiles ----

    def samples_in_pprof_follow_its_schema(self):
        for path in self.samples:
            p = self.decoded(path)
            text = p.string_table
            expect([(text[t.type], text[t.unit]) for t in p.sample_type], [("samples", "count")],
                   "sample types")
            locations = {l.id: l for l in p.location}
            functions = {f.id: text[f.system_name] for f in p.function}
            found, wanted = collections.Counter(), collections.Counter()
            for sample in p.sample:
                frames = [line for l in sample.location_id for line in locations[l].line]
                stack = tuple(functions[f.function_id] for f in reversed(frames))
                found[stack, frames[0].line] += sample.value[0]
            for stack, lines in self.nodes(path):
                for line, n in lines:
                    wanted[stack, line] += n
            expect(found, +wanted, path.name)
            expect(found.total(), self.summary(path)["total_count"], path.name)

    def inlined_code_shares_a_location_in_pprof(self):
        p = self.decoded(self.flat)
        lines = {l.id: len(l.line) for l in p.location}
        expect(sorted([lines[l] for l in s.location_id] for s in p.sample),
               [[1], [1], [1], [2], [3]], "frames of each location")
        p = self.decoded(self.contexts_path)
        lines = {l.id: len(l.line) for l in p.location}
        expect(sorted([lines[l] for l in s.location_id] for s in p.sample),
               [[1], [1], [1, 1], [1, 1], [2, 1]], "contexts are calls")

    def pprof_of_go_reads_samples(self):
        if not shutil.which("go"):
            raise Skip("missing go tool pprof")
        for path in self.samples:
            self.run("convert", path, "--to", "pprof", "-o", self.folder / "cpu.pb.gz")
            top = subprocess.run(["go", "tool", "pprof", "-top", "-nodefraction=0", "cpu.pb.gz"],
                                 cwd=self.folder, check=True, capture_output=True, text=True,
                                 env={**os.environ, "HOME": str(self.folder)}).stdout
            said = re.search(r"of (\d+) total", top)
            assert said, top
            expect(int(said[1]), self.summary(path)["total_count"], path.name)

    def summary(self, path):
        return json.loads(self.run("show", "--json", path))["summary"]

    def samples_fold_and_add_up(self):
        for path in self.samples:
            lines = self.export(path, "folded").decode().splitlines()
            expect(sum(int(line.rpartition(" ")[2]) for line in lines),
                   self.summary(path)["total_count"], path.name)
        lines = self.export(self.flat, "folded").decode().splitlines()
        expect(sorted(lines), ["=cmd 2000", "main 500", "main;a:b 900", "main;a:b;deep 60"],
               "stacks")
        lines = self.export(self.contexts_path, "folded").decode().splitlines()
        expect(sorted(lines), ["main 30", "main;parse 20", "main;parse 50",
                               "main;parse;next 10"], "contexts")

    def samples_in_speedscope_are_sound(self):
        for path in self.samples:
            data = json.loads(self.export(path, "speedscope"))
            [profile] = data["profiles"]
            expect(len(profile["samples"]), len(profile["weights"]), "samples")
            expect([profile["endValue"], sum(profile["weights"])],
                   [self.summary(path)["total_count"]] * 2, "end")
            frames = data["shared"]["frames"]
            assert all(i < len(frames) for s in profile["samples"] for i in s), "frame index"

    def samples_in_csv_have_a_row_per_function(self):
        for path in self.samples:
            text = self.export(path, "csv").decode()
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            functions = json.loads(self.run("show", "--json", path))["functions"]
            key = "total (samples)"
            expect(sorted((int(r[key]), int(r["head (samples)"])) for r in rows),
                   sorted((f["total"], f["head"]) for f in functions), path.name)
        rows = list(csv.DictReader(io.StringIO(self.export(self.flat, "csv").decode(),
                                               newline="")))
        expect([row["function"] for row in rows], ["main", " =cmd"], "no formulas")

    def convert_writes_what_report_does(self):
        for path in (self.indexed, *self.samples):
            for name in ("pprof", "folded", "speedscope", "csv", "json"):
                self.run("convert", "-q", path, "--to", name, "-o", self.folder / "converted")
                wanted = self.export(path, name)
                if name == "json":  # it also says what file it was
                    wanted = json.loads(wanted)
                    found = json.loads((self.folder / "converted").read_bytes())
                else:
                    found = (self.folder / "converted").read_bytes()
                assert found == wanted, f"{path.name} to {name}"

    def convert_changes_samples_first(self):
        lines = self.run("convert", self.flat, "--layout=flat", "--to", "folded", "-o",
                         "-").decode().splitlines()
        expect(sorted(line.rpartition(" ")[0] for line in lines), ["=cmd", "a:b", "deep", "main"],
               "no stacks")
        lines = self.run("convert", self.flat, "--function", "^main$", "--to", "folded", "-o",
                         "-").decode().splitlines()
        expect(len(lines), 3, "one function")

    # ---- diff and tree ----

    def difference_of_equal_profiles_is_none(self):
        data = json.loads(self.run("diff", "--json", self.indexed, self.indexed))
        expect({c["change"] for c in data["contexts"]}, {"same"}, "changes")
        expect(round(data["overlap"], 9), 1.0, "overlap")

    def limits_set_the_exit_status(self):
        larger = self.folder / "larger.yaml"
        larger.write_text(YAML.format(huge=HUGE).replace("TotalSize: 1000", "TotalSize: 9000")
                          .replace(f"TotalSize: {HUGE}", "TotalSize: 5000"), encoding="utf-8")
        smaller = self.folder / "smaller.yaml"
        smaller.write_text(YAML.format(huge=5000), encoding="utf-8")

        def code(before, now, *limits):
            args = [a for limit in limits for a in ("--fail-on", limit)]
            return subprocess.run([*self.pgokit, "diff", "-q", before, now, *args], check=False,
                                  capture_output=True).returncode
        expect(code(smaller, larger), 0, "without a limit")
        expect(code(smaller, larger, "growth=10%"), 3, "133 % more")
        expect(code(smaller, larger, "growth=134%"), 0, "a limit that is not reached")
        expect(code(larger, smaller, "growth=10%"), 0, "shrunk")
        expect(code(smaller, larger, "objects=0%"), 0, "as many objects")
        expect(code(smaller, larger, "growth=10"), 2, "without a unit")
        expect(code(smaller, larger, "size=10%"), 2, "an unknown limit")

    def moved_lines_are_the_same_context(self):
        moved = self.folder / "moved.yaml"
        moved.write_text(YAML.format(huge=HUGE).replace("LineOffset: 9", "LineOffset: 12"),
                         encoding="utf-8")
        data = json.loads(self.run("diff", "--json", self.small, moved))
        expect([(c["change"], c["moved"]) for c in data["contexts"]], [("same", True)] * 2, "pairs")

    def tree_adds_up(self):
        text = self.run("show", "--tree", "--least", "0", self.small).decode().splitlines()
        assert text[1].endswith("whole program") and "8.00 EiB" in text[1], text
        expect([line.split("function ")[1] for line in text[2:]],
               [f"0x{n:016x}" for n in (4, 1, 3, 2, 1)], "functions, most bytes first")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        exports = Exports(os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        helpers = ("run", "export", "contexts", "nodes", "schema", "decoded", "summary")
        for name, case in vars(Exports).items():
            if name.startswith("_") or name in helpers:
                continue
            try:
                case(exports)
                report.case(name.replace("_", " "), [])
            except Skip as reason:
                report.cases += 1
                print(f"ok {report.cases} - {name.replace('_', ' ')} # SKIP {reason}")
            except (AssertionError, subprocess.CalledProcessError) as error:
                report.case(name.replace("_", " "),
                            [str(error), (getattr(error, "stderr", None) or b"")[-2000:]])
    report.end()


main()

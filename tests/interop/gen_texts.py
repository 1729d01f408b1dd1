#!/usr/bin/env python3
"""Every form in which `perf script` prints samples gives the profile that perf.data gives, or is
refused by name with what to type instead; lines that cannot be read are counted and quoted.
"""

import os
import re
import sys

import stepped
from gen_report import TYPES, build, map_program, report
from gen_types import BASE, SITES, as_spe, build as build_types, call_of
from peers import Skip, good, main, read, require, run, tool, write
from perf_writer import BRANCH, IDENTIFIER, IP, TID, TIME, Event, Recording
from stepped import LINES

ANY_OF_USER = 9  # of branch types, without which perf does not print instructions


def recorded(work, name="my prog 7"):
    """(program, perf.data, number of samples), with branches of a process with a name to stumble
    over."""
    exe, stacks = build(work)
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u", branch_type=ANY_OF_USER))
    r.comm(1234, name, by_exec=True)
    map_program(r, exe, 1234)
    for pairs in stacks:
        r.sample(pid=1234, tid=1234, ip=pairs[0][1], branches=pairs)
    r.write_file(exe + ".data")
    return exe, exe + ".data", len(stacks)


def script(data, *options):
    result = run(tool("perf"), "script", "-i", data, "--show-mmap-events", *options)
    require(result.code == 0 and result.out, str(result))
    return write(data + ".txt", result.out)


def profile(work, path, exe, *options):
    return good(work.pgokit, "gen", "-q", path, "-b", exe, "--format", "text", "-o", "-", *options)


def refused(work, path, exe, *words):
    out = exe + ".none"
    result = run(work.pgokit, "gen", path, "-b", exe, "-o", out)
    require(result.code == 2 and not os.path.exists(out), str(result))
    for word in words:
        require(word in result.errors, f"'{word}' is not said\n{result}")


BRANCH_FIELDS = ["ip,brstack", "event,ip,brstack", "comm,pid,ip,brstack", "brstack,dso,ip",
                 "comm,pid,tid,time,period,event,ip,sym,dso,brstack", "pid,brstack", "brstack"]
ADDRESS_FIELDS = ["ip", "ip,sym", "event,ip", "comm,pid,ip", "tid,ip", "comm,ip",
                  "ip,sym,symoff,dso", "comm,tid,pid,time,event,ip,sym,dso", "ip,sym,srcline",
                  "time,ip", "period,ip"]


def branches_in_any_form(work):
    exe, data, _ = recorded(work)
    expected = profile(work, data, exe)
    for fields in BRANCH_FIELDS:
        found = profile(work, script(data, "-F", fields), exe)
        require(found == expected, f"-F {fields}: {found[:300]}")


def addresses_in_any_form(work):
    exe, data, n = recorded(work)
    expected = profile(work, script(data, "-F", "ip"), exe)
    inside = report(work, exe, script(data, "-F", "ip"))["inferred"]
    require(inside > n // 2, f"{inside} of {n}")
    require(report(work, exe, script(data))["inferred"] == inside, "plain perf script")
    require(profile(work, script(data), exe) == expected, "plain perf script")
    for fields in ADDRESS_FIELDS:
        path = script(data, "-F", fields)
        found = report(work, exe, path)
        require(found["samples"] == n and found["inferred"] == inside and not found["unreadable"],
                f"-F {fields}: {found}")
        require(profile(work, path, exe) == expected, f"-F {fields}")


def names_that_look_like_addresses(work):
    for name in ("dead", "beef 12", "cafe1234", "0x1", "a:"):
        exe, data, n = recorded(work, name)
        inside = report(work, exe, script(data, "-F", "ip"))["inferred"]
        for fields in ("comm,pid,ip", "comm,tid,pid,time,event,ip,sym,dso"):
            found = report(work, exe, script(data, "-F", fields))
            require(found["samples"] == n and found["inferred"] == inside,
                    f"{name}, -F {fields}: {found}")


def names_and_processes_are_known(work):
    exe, data, n = recorded(work)
    path = script(data, "-F", "comm,pid,ip,brstack")
    for options, used in (((), n), (("--comm", "my prog 7"), n), (("--pid", "1234"), n)):
        found = report(work, exe, path, *options)
        require(found["used"] == used, str(found))
    none = run(work.pgokit, "gen", path, "-b", exe, "--comm", "x", "-o", exe + ".none")
    require(none.code == 2 and f"{n} of other processes" in none.errors, str(none))


def other_forms_are_refused(work):
    exe, data, _ = recorded(work)
    refused(work, script(data, "-F", "ip,brstackinsn"), exe, "brstackinsn", "-F ip,brstack", "line")
    refused(work, script(data, "-F", "ip,brstacksym"), exe, "brstacksym", "-F ip,brstack", "line 5")
    refused(work, script(data, "-F", "comm,sym"), exe, "line", "cannot be read", "-F ip,brstack")


def clock_samples(work, *options):
    exe, _ = build_types(work, LINES)
    data = exe + ".clock"
    run(tool("perf"), "record", "-q", *options, "-e", "cpu-clock:u", "-F", "20000", "-o", data,
        "--", exe, "3000000")
    if not os.path.exists(data) or report(work, exe, data)["inferred"] < 10:
        raise Skip("perf may not record here")
    return exe, data


def plain_script_of_a_recording(work):
    exe, data = clock_samples(work)
    expected = profile(work, data, exe)
    for options in ((), ("-F", "comm,pid,ip"), ("-F", "ip,sym")):
        require(profile(work, script(data, *options), exe) == expected, str(options))


def offsets_in_call_chains_are_refused(work):
    """perf 6 prints offsets in files where addresses of call chains belong."""
    exe, data = clock_samples(work, "-g")
    first = re.search(r"^\t +([0-9a-f]+)", read(script(data, "-F", "ip")).decode(), re.M)
    if len(first.group(1)) > 8:
        raise Skip("this perf prints addresses")
    refused(work, script(data), exe, "offsets in files", "perf.data itself", "-G")
    without = profile(work, data, exe, "--ignore-stack")
    require(profile(work, script(data, "-G"), exe) == without, "-G")


def blanks_instead_of_tabs(work):
    """A call chain is one, too, if what handled the text made blanks of its tabs."""
    exe, chains = stepped.recorded(work, *TYPES, sources=("types.cpp",), every=53, samples=300)
    trace = read(chains)
    expected = profile(work, chains, exe)
    contexts = profile(work, chains, exe, "--contexts", "--no-preinline")
    require("@" in contexts, "no contexts")
    found = profile(work, write(exe + ".blanks", trace.replace(b"\t", b"        ")), exe)
    require(found == expected, found[:300])


def unreadable_lines_are_said(work):
    exe, data, _ = recorded(work)
    lines = read(script(data, "-F", "ip,brstack")).splitlines(keepends=True)
    expected = profile(work, data, exe)
    some = write(exe + ".some", b"".join(lines + [b"what is this?\n"]))
    result = run(work.pgokit, "gen", some, "-b", exe, "--format", "text", "-o", "-")
    require(result.code == 0 and result.text == expected, str(result))
    require(f"1 of {len(lines) + 1} lines" in result.errors and "what is this?" in result.errors and
            f"line {len(lines) + 1}:" in result.errors, result.errors)
    more = write(exe + ".more", b"".join([*lines, *[b"what is this?\n"] * (len(lines) // 10)]))
    result = run(work.pgokit, "gen", "-q", more, "-b", exe, "--format", "text", "-o", "-")
    require(result.code == 1 and result.text == expected, str(result))
    require("more than 1 %" in result.errors and "what is this?" in result.errors, result.errors)
    most = write(exe + ".most", b"".join([*lines, *[b"what is this?\n"] * (2 * len(lines))]))
    refused(work, most, exe, "what is this?", f"line {len(lines) + 1}", "cannot be read")


def events_can_be_chosen(work):
    """Two events in one recording: how often code runs, and where branches are mispredicted."""
    exe, stacks = build(work)
    often = Event(IP | TID | TIME | BRANCH | IDENTIFIER, name="taken:u", branch_type=ANY_OF_USER)
    missed = Event(IP | TID | TIME | BRANCH | IDENTIFIER, name="missed:upp", ids=(2,),
                   branch_type=ANY_OF_USER)
    alone = Recording(Event(IP | TID | TIME | BRANCH, name="taken:u", branch_type=ANY_OF_USER))
    both = Recording(often, missed)
    for r in (alone, both):
        map_program(r, exe, 7)
    for number, pairs in enumerate(stacks):
        alone.sample(pid=7, tid=7, ip=pairs[0][1], branches=pairs)
        both.sample(event=0, pid=7, tid=7, ip=pairs[0][1], branches=pairs)
        if number % 3 == 0:
            both.sample(event=1, pid=7, tid=7, ip=BASE + call_of(exe, SITES[0]), branches=pairs)
    alone.write_file(exe + ".alone")
    both.write_file(exe + ".data")
    expected = profile(work, exe + ".alone", exe)
    text = script(exe + ".data", "-F", "event,ip,brstack")
    missed = (len(stacks) + 2) // 3
    for path in (exe + ".data", text):
        require(profile(work, path, exe, "--perf-event", "taken:u") == expected, path)
        require(profile(work, path, exe, "--perf-events", "x,taken:u") == expected, path)
        require(profile(work, path, exe) != expected, path)
        found = profile(work, path, exe, "--perf-event", "missed:upp", "--leading-ip-only")
        counts = [int(n) for n in re.findall(r"^ \S+: (\d+)", found, re.M)]
        require(max(counts) == sum(counts) == missed, found)
        none = run(work.pgokit, "gen", path, "-b", exe, "--perf-event", "y", "-o", exe + ".none")
        require(none.code == 2 and "taken:u" in none.errors, str(none))
    refused_mode = run(work.pgokit, "gen", text, "-b", exe, "--mode", "cs", "--leading-ip-only",
                       "-o", exe + ".none")
    require(refused_mode.code == 2 and "--mode" in refused_mode.errors, str(refused_mode))


def text_without_mappings_asks_for_them(work):
    """Programs lie anywhere, so that no address is one of theirs."""
    exe, data, _ = recorded(work)
    for fields in ("ip,brstack", "ip"):
        result = run(tool("perf"), "script", "-i", data, "-F", fields)
        require(result.code == 0 and result.out, str(result))
        bare = write(exe + ".bare", result.out)
        refused(work, bare, exe, "add --show-mmap-events to perf script")
        found = run(work.pgokit, "gen", bare, "-o", exe + ".none")
        require(found.code == 2 and "add --show-mmap-events to perf script" in found.errors,
                str(found))


def types_from_a_dump_of_spe(work):
    """`perf report -D` prints the bytes of ARM's traces, and a line for each packet."""
    exe, trace = build_types(work, LINES)
    as_spe(exe, exe + ".spe")
    dump = run(tool("perf"), "report", "-D", "-i", exe + ".spe")
    require("ARM SPE data" in dump.text, str(dump)[:500])
    write(exe + ".dump", dump.out)
    both = [good(work.pgokit, "gen", "-q", trace, path, "-b", exe, "--format", "text", "-o", "-",
                 "--ignore-stack", "--vtables") for path in (exe + ".spe", exe + ".dump")]
    require("_ZTV5Often" in both[0] and both[0] == both[1], both[1][:500])


def add_cases(work, tap):
    for fn in (branches_in_any_form, addresses_in_any_form, names_that_look_like_addresses,
               names_and_processes_are_known, other_forms_are_refused, plain_script_of_a_recording,
               offsets_in_call_chains_are_refused, blanks_instead_of_tabs,
               unreadable_lines_are_said, events_can_be_chosen,
               text_without_mappings_asks_for_them, types_from_a_dump_of_spe):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))

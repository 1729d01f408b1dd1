"""Reads, merges and writes compiler profiles and heap profiles: pgokit's library for Python.

    import pgokit

    profile = pgokit.HeapProfile.read("memprof.profraw.4711", binaries=["./app"])
    for context in profile.top(10):
        print(context["TotalSize"], context.frames[0].function, context.frames[0].place)

What goes wrong with files is a pgokit.Error. Objects may be used by any thread; calls for one
object wait for one another. Messages of the library go to the logger "pgokit". What has no class
here is in pgokit.lib and pgokit.ffi: all functions of include/pgokit, by cffi.
"""

from __future__ import annotations

from typing import Any, Iterable, Union

from pgokit._binaries import Binaries, BinariesLike
from pgokit._cffi import ffi
from pgokit._compare import CounterComparison, HeapComparison, SampleChange, SampleComparison
from pgokit._counters import (CountedFunction, CounterProfile, GcovFunction, GcovProfile,
                              SeenValue)
from pgokit._files import File, FileInfo, Format, Input, detect, formats
from pgokit._heap import (Context, Field, Frame, HeapEstimate, HeapPoint, HeapProfile,
                          HeapSampling, HeapTimes, Unnamed,
                          heap_fields)
from pgokit._library import Error, Path, demangled, lib
from pgokit._sample import Record, SampledFunction, SampleProfile, SampleSummary
from pgokit._sample_build import BuiltFunction, SampleBuilder

__version__ = "0.1.0"
__all__ = [
    "Binaries", "BuiltFunction", "Context", "CountedFunction", "CounterComparison",
    "CounterProfile", "Error", "Field", "FileInfo", "Format", "Frame", "GcovFunction",
    "GcovProfile", "HeapComparison", "HeapEstimate", "HeapPoint", "HeapProfile",
    "HeapSampling", "HeapTimes", "Profile", "Record",
    "SampleBuilder", "SampleChange", "SampleComparison", "SampleProfile", "SampleSummary",
    "SampledFunction", "SeenValue", "Unnamed", "convert", "demangled", "detect", "ffi", "formats",
    "heap_fields", "lib", "merge", "read",
]

Profile = Union[HeapProfile, SampleProfile, CounterProfile, GcovProfile]
_CLASSES: dict[str, Any] = {"heap": HeapProfile, "sample": SampleProfile,
                            "counters": CounterProfile, "gcov": GcovProfile}


def _class_of(kind: str, path: Path) -> Any:
    if kind not in _CLASSES:
        raise ValueError(f"{path}: {kind!r} is no kind of profile: heap, sample, counters, gcov")
    return _CLASSES[kind]


def _check_one_kind(info: FileInfo | None) -> None:
    """What was asked for without a kind is not to be half of a file without a word."""
    if info and info.facts.get("heap") and info.facts.get("counters"):
        raise ValueError(f"{info.path} has counters and heap data: ask for one of them by "
                         "kind='counters' or kind='heap'")


def read(path: Path, *, kind: str | None = None, binaries: BinariesLike = None) -> Profile:
    """Reads a profile of any format. `binaries` is for heap profiles, see HeapProfile.read; `kind`
    ("heap", "sample", "counters", "gcov") is for files with heap data and counters."""
    file = File(path)
    cls = _class_of(kind or file.kind(), path)
    profile: Profile
    if cls is HeapProfile:
        profile = HeapProfile._of_file(file, binaries)
    else:
        profile = cls._of_file(file)
    if kind is None:
        _check_one_kind(profile.info)
    return profile


def merge(inputs: Iterable[Input], *, kind: str | None = None, binaries: BinariesLike = None,
          threads: int = 0) -> Profile:
    """Adds up files of one kind and any format: paths, or pairs of a path and how often it counts.
    The kind is that of the first file."""
    given = list(inputs)
    if not given:
        raise ValueError("nothing to merge: name one input at least")
    first = given[0][0] if isinstance(given[0], tuple) else given[0]
    wanted = kind or File(first).kind()
    if _class_of(wanted, first) is HeapProfile:
        return HeapProfile.read_all(given, binaries=binaries, threads=threads)
    for path in (row[0] if isinstance(row, tuple) else row for row in given):
        if kind is None and wanted == "counters" and detect(path).name == "indexed profile":
            _check_one_kind(CounterProfile.read(path).info)
    profile: Profile = _CLASSES[wanted].read_all(given, threads=threads)
    return profile


def convert(path: Path, output: Path, to: str, *, kind: str | None = None,
            binaries: BinariesLike = None, **options: Any) -> None:
    """Reads a profile and writes it as something else; `to` and other options are those of
    write() of its class."""
    profile = read(path, kind=kind, binaries=binaries)
    if isinstance(profile, GcovProfile):
        raise ValueError(f"{path}: counters of gcc can be written as a .gcda file only")
    profile.write(output, to, **options)

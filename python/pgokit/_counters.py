"""Instrumentation profiles: how often each place of a program ran."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterable, Iterator

from pgokit._compare import CounterComparison, as_figures
from pgokit._files import File, FileInfo, Input, call_read_all
from pgokit._heap import HeapProfile
from pgokit._library import (Both, Handle, Path, call, demangled, ffi, lib, name_bytes, path_bytes,
                             sized, text)

_VALUES_AT_ONCE = 256
_FORMS = ("text", "raw")


@dataclasses.dataclass(frozen=True)
class SeenValue:
    """A value that was seen at a value site, and how often."""

    value: int  #: the id of a function or virtual table, or a size in bytes
    count: int
    name: str  #: of the function or virtual table; "" unknown


@dataclasses.dataclass(frozen=True)
class CountedFunction:
    """A function and its counters."""

    linkage_name: str  #: with the file in front if it is local
    id: int  #: first 8 bytes of the MD5 of the name
    hash: int  #: of the structure
    contextual: bool  #: counted in its calling context, by a second round
    counts: tuple[int, ...]  #: the first one is the entry count
    bitmap: bytes  #: conditions that were met (MC/DC); b"": none
    calls: tuple[tuple[SeenValue, ...], ...]  #: targets of each indirect call
    sizes: tuple[tuple[SeenValue, ...], ...]  #: of each memory operation
    vtables: tuple[tuple[SeenValue, ...], ...]  #: of each object that is asked for its type

    @property
    def function(self) -> str:
        """The name that the programmer wrote, without parameters and file."""
        if self.linkage_name.endswith("]"):  # a method of Objective-C, which has colons in it
            return self.linkage_name
        return demangled(re.split("[;:]", self.linkage_name)[-1])


class CounterProfile(Handle):
    """An instrumentation profile: a collection of functions."""

    kind = "counters"

    def __init__(self) -> None:
        super().__init__("pgk_instr", lib.pgk_instr_close)
        #: The file that it was read from; None for what was merged.
        self.info: FileInfo | None = None
        call(lib.pgk_instr_new, self._box)

    @classmethod
    def read(cls, path: Path, *, weight: int = 1) -> CounterProfile:
        """Reads a file of any format of counters of clang."""
        return cls._of_file(File(path), weight)

    @classmethod
    def _of_file(cls, file: File, weight: int = 1) -> CounterProfile:
        profile = cls()
        call(lib.pgk_instr_read_file, profile._handle, file.handle, weight)
        profile.info = file.info()
        return profile

    @classmethod
    def read_all(cls, inputs: Iterable[Input], *, threads: int = 0) -> CounterProfile:
        """Adds up any number of files: paths, or pairs of a path and how often it counts."""
        profile = cls()
        profile.close()
        call_read_all(lib.pgk_instr_read_all, profile._box, inputs, threads)
        return profile

    def __len__(self) -> int:
        """How many functions there are, each hash of a name counted."""
        with self._lock:
            return int(lib.pgk_instr_functions(self._handle))

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[CountedFunction]:
        with self._lock:
            return iter([self._function(i) for i in range(len(self))])

    def _values(self, i: int, kind: int, site: int) -> tuple[SeenValue, ...]:
        room = _VALUES_AT_ONCE
        while True:
            values = ffi.new("struct pgk_instr_value[]", room)
            count = lib.pgk_instr_site(self._handle, i, kind, site, values, room)
            if count <= room:
                break
            room = count
        return tuple(SeenValue(v.value, v.count,
                               text(lib.pgk_instr_name(self._handle, kind, v.value)))
                     for v in (values[n] for n in range(count)))

    def _sites(self, i: int, kind: int) -> tuple[tuple[SeenValue, ...], ...]:
        return tuple(self._values(i, kind, site)
                     for site in range(lib.pgk_instr_sites(self._handle, i, kind)))

    def _function(self, i: int) -> CountedFunction:
        f = sized("struct pgk_instr_function")
        lib.pgk_instr_function(self._handle, i, f)
        bitmap: Any = b"" if f.bitmap == ffi.NULL else ffi.buffer(f.bitmap, f.n_bitmap)[:]
        return CountedFunction(text(f.name), f.id, f.hash, f.contextual,
                               tuple(ffi.unpack(f.counts, f.n_counts)), bitmap,
                               self._sites(i, lib.PGK_VALUE_CALL),
                               self._sites(i, lib.PGK_VALUE_SIZE),
                               self._sites(i, lib.PGK_VALUE_VTABLE))

    @property
    def origin(self) -> str:
        """What instrumented the program: "IR", "front-end", ..."""
        with self._lock:
            return text(lib.pgk_instr_origin_text(self._handle))

    def add(self, linkage_name: str, hash: int,  # pylint: disable=redefined-builtin
            counts: Iterable[int], *, bitmap: bytes = b"") -> None:
        """Adds a function's counters, of which the first one is the entry count; those of the same
        name and hash are added up. A new profile is one of the front end (clang's
        -fprofile-instr-generate), unless `count_by` has been called."""
        name, numbers = ffi.new("char[]", name_bytes(linkage_name)), list(counts)
        array, bits = ffi.new("uint64_t[]", numbers), ffi.new("uint8_t[]", bitmap)
        addition = sized("struct pgk_instr_addition", name=name, hash=hash, counts=array,
                         n_counts=len(numbers), bitmap=bits if bitmap else ffi.NULL,
                         n_bitmap=len(bitmap))
        with self._lock:
            self._changed()
            call(lib.pgk_instr_build_function, self._handle, addition)

    def count_by(self, *, optimiser: bool, contextual: bool = False) -> None:
        """Says what counted what will be added: the optimiser (-fprofile-generate) or the front
        end; in its second round, after inlining."""
        traits = ((lib.PGK_INSTR_IS_IR if optimiser else 0) |
                  (lib.PGK_INSTR_IS_CONTEXTUAL if contextual else 0))
        with self._lock:
            call(lib.pgk_instr_build_kind, self._handle, traits)

    def compare(self, base: CounterProfile, *, contextual: bool = False) -> CounterComparison:
        """How far the counters agree with those of an earlier profile, of functions with or
        without context."""
        overlap = sized("struct pgk_instr_overlap")
        with Both(self, base):
            call(lib.pgk_instr_overlap, base._handle, self._handle, contextual, overlap)
        return as_figures(CounterComparison, overlap)

    def merge(self, other: CounterProfile, weight: int = 1) -> None:
        """Adds all of another profile, `weight` times."""
        with Both(self, other):
            self._changed()
            call(lib.pgk_instr_merge, self._handle, other._handle, weight)

    def write(self, path: Path, to: str = "any", *, heap: HeapProfile | None = None,
              version: int = 0) -> None:
        """Writes a file, whole or not at all.

        to       who is to read it: "any" or a release as "llvm19" for an indexed profile
                 (.profdata); or "text" or "raw"
        heap     of indexed profiles: heap data for the same file
        version  of raw profiles; 0: the newest"""
        target, name = lib.pgk_indexed_target(name_bytes(to)), path_bytes(path)
        with Both(self, heap or self):
            if target != ffi.NULL:
                opts = sized("struct pgk_indexed_write_opts", target=target[0])
                suited = lib.pgk_instr_index_version(self._handle, opts.target.index_version)
                if to == "any" or suited < opts.target.index_version:
                    opts.target.index_version = suited
                call(lib.pgk_indexed_write, heap._handle if heap else ffi.NULL, self._handle, name,
                     opts)
            elif to in _FORMS and not heap:
                form = lib.PGK_INSTR_TEXT if to == "text" else lib.PGK_INSTR_RAW
                plan = ffi.new("struct pgk_instr_target *", {"form": form, "version": version})
                call(lib.pgk_instr_write, self._handle, name, plan)
            else:
                raise ValueError(f"counters cannot be written to {to!r}: any, llvm14 to llvm23, or "
                                 "without heap data text or raw")


@dataclasses.dataclass(frozen=True)
class GcovFunction:
    """A function and its counters of gcc."""

    ident: int  #: what gcc knows the function by
    name: str  #: of a .gcno file; "" unknown
    source: str  #: source file; "" unknown
    line: int | None  #: None: unknown
    counts: dict[str, tuple[int, ...]]  #: by kind ("arcs", ...), of those that are no lists


class GcovProfile(Handle):
    """Counters of gcc, of .gcda files and the .gcno files that have names for them."""

    kind = "gcov"

    def __init__(self) -> None:
        super().__init__("pgk_gcov", lib.pgk_gcov_close)
        #: The file that it was read from; None for what was merged.
        self.info: FileInfo | None = None
        call(lib.pgk_gcov_new, self._box)

    @classmethod
    def read(cls, path: Path, *, weight: int = 1) -> GcovProfile:
        """Reads a .gcda or .gcno file."""
        return cls._of_file(File(path), weight)

    @classmethod
    def _of_file(cls, file: File, weight: int = 1) -> GcovProfile:
        profile = cls()
        call(lib.pgk_gcov_read_file, profile._handle, file.handle, weight)
        profile.info = file.info()
        return profile

    @classmethod
    def read_all(cls, inputs: Iterable[Input], *, threads: int = 0) -> GcovProfile:
        """Adds up any number of files of one object: paths, or pairs of a path and how often it
        counts."""
        profile = cls()
        profile.close()
        call_read_all(lib.pgk_gcov_read_all, profile._box, inputs, threads)
        return profile

    def __len__(self) -> int:
        with self._lock:
            return int(lib.pgk_gcov_functions(self._handle))

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[GcovFunction]:
        with self._lock:
            return iter([self._function(i) for i in range(len(self))])

    def _function(self, i: int) -> GcovFunction:
        f = sized("struct pgk_gcov_function")
        lib.pgk_gcov_function(self._handle, i, f)
        counts = {text(lib.pgk_gcov_kind_name(kind)): tuple(ffi.unpack(f.counts[kind],
                                                                      f.n_counts[kind]))
                  for kind in range(lib.PGK_GCOV_KINDS)
                  if f.counts[kind] != ffi.NULL and f.n_counts[kind]}
        return GcovFunction(f.ident, text(f.name), text(f.source), f.line or None, counts)

    @property
    def runs(self) -> int:
        """How often the program ran."""
        with self._lock:
            return int(lib.pgk_gcov_runs(self._handle))

    def write(self, path: Path) -> None:
        """Writes a .gcda file, whole or not at all."""
        with self._lock:
            call(lib.pgk_gcov_write, self._handle, path_bytes(path))

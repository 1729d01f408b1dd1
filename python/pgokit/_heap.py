"""Heap profiles: allocation contexts and what is known of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Callable, Iterable, Iterator

from pgokit._binaries import Binaries, BinariesLike, as_binaries
from pgokit._compare import HeapComparison, as_figures
from pgokit._files import File, FileInfo, Input, call_read_all, file_title
from pgokit._library import (Both, Error, Handle, Part, Path, call, demangled, ffi, lib,
                             name_bytes, path_bytes, sized, text)

_NEWEST_RAW = 5
_FRAMES_AT_ONCE = 64


@dataclasses.dataclass(frozen=True)
class Field:
    """A number that a profile has for each context."""

    name: str  #: as in LLVM's files: "TotalSize"
    unit: str  #: "B", "ms", "accesses", ...
    meaning: str


def _fields() -> dict[str, int]:
    return {text(lib.pgk_mib_info(number, ffi.NULL, ffi.NULL)): number
            for number in range(lib.PGK_MIB_FIELDS) if number != lib.PGK_MIB_AccessHistogram}


_FIELDS = _fields()


def heap_fields() -> list[Field]:
    """All numbers that contexts may have."""
    rows = []
    for number in _FIELDS.values():
        unit, meaning = ffi.new("const char **"), ffi.new("const char **")
        name = lib.pgk_mib_info(number, unit, meaning)
        rows.append(Field(text(name), text(unit[0]), text(meaning[0])))
    return rows


@dataclasses.dataclass(frozen=True)
class Frame:
    """A frame of a call stack: a place in a function, or an address that no binary has named."""

    linkage_name: str  #: "" unknown
    file: str  #: source file of the function; "" unknown
    line: int | None  #: None: unknown
    column: int | None  #: None: unknown
    inlined: bool  #: into the next frame
    discriminator: int  #: 0: none, or unknown
    guid: int  #: LLVM's 64-bit id of the function; 0 of an address
    line_offset: int  #: behind the function's first line, modulo 2^32
    address: int | None  #: link-time address in its module, or None for a place in a function
    build_id: bytes  #: of the module of an address; b"" unknown
    by_symbol: bool = False  #: code without debug information in a file that has some: no record
    module_path: str = ""  #: where the file of the function or address was; "" unknown
    near: str = ""  #: linkage name of the symbol nearest to an address without name; "" unknown

    @classmethod
    def of(cls, linkage_name: str, file: str = "", line: int | None = None, *,
           first_line: int | None = None, column: int | None = None, inlined: bool = False,
           discriminator: int = 0) -> Frame:
        """A place in a function, for HeapProfile.add. Compilers find a call by the lines between
        it and `first_line` of the function, which is `line` if it is not given."""
        first = line if first_line is None else first_line
        offset = (line - first) % 2**32 if line is not None and first is not None else 0
        return cls(linkage_name, file, line, column, inlined, discriminator, 0, offset, None, b"")

    @property
    def function(self) -> str:
        """The name that the programmer wrote, without parameters; else what is known instead:
        "[libx.so]+0x1234" of an address."""
        if self.linkage_name:
            return demangled(self.linkage_name)
        if self.address is None:
            return f"GUID {self.guid:#018x}"
        module = self.module_path.rpartition("/")[2]
        return f"[{module}]+0x{self.address:x}" if module else f"0x{self.address:x}"

    @property
    def place(self) -> str:
        """"file.c:12:5" as far as it is known; "" if nothing is."""
        numbers = [str(number) for number in (self.line, self.column) if number is not None]
        return ":".join([self.file, *numbers]) if self.file else ""


def _as_frame(frame: Any) -> Frame:
    if frame.is_address:
        size = frame.build_id_size
        build_id = ffi.buffer(frame.build_id, size)[:] if size else b""
        return Frame("", "", None, None, False, 0, 0, 0, frame.address, build_id,
                     module_path=text(frame.module_path), near=text(frame.near_symbol))
    line = (frame.decl_line + frame.line_offset) % 2**32 if frame.decl_line else None
    return Frame(text(frame.function), text(frame.file), line, frame.column or None, frame.inlined,
                 frame.discriminator, frame.guid, frame.line_offset, None, b"", frame.by_symbol,
                 text(frame.module_path))


def _as_frames(frames: Iterable[Frame]) -> tuple[Any, int, list[Any]]:
    """An array of C, how long it is, and what keeps its strings alive."""
    rows, kept = list(frames), []
    array = ffi.new("struct pgk_heap_frame[]", len(rows))
    for into, frame in zip(array, rows):
        strings = [ffi.new("char[]", name_bytes(part)) for part in (frame.linkage_name, frame.file)]
        build_id = ffi.new("uint8_t[]", frame.build_id)
        kept += [*strings, build_id]
        into.function, into.file = strings
        into.inlined, into.discriminator = frame.inlined, frame.discriminator
        into.guid, into.line_offset, into.column = frame.guid, frame.line_offset, frame.column or 0
        if frame.line is not None:
            into.decl_line = (frame.line - frame.line_offset) % 2**32
        if frame.address is not None:
            into.is_address, into.address = True, frame.address
            into.build_id, into.build_id_size = build_id, len(frame.build_id)
    return array, len(rows), kept


class Context(Part, Mapping[str, int]):
    """A call stack that allocated, and what is known of its objects: a mapping of the names of
    fields (heap_fields()) to numbers, without those that the profile does not know.

        context["TotalSize"]            # KeyError if it is not known
        context.get("PeakSize")         # None if it is not known
    """

    __slots__ = ("_id", "_frames")

    def __init__(self, profile: HeapProfile, number: int) -> None:
        super().__init__(profile)
        self._id = number
        self._frames: tuple[Frame, ...] | None = None

    def __getitem__(self, name: str) -> int:
        field = _FIELDS[name]
        with self._profile._lock:
            if not lib.pgk_heap_knows(self._handle, self._id, field):
                raise KeyError(name)
            value: int = lib.pgk_heap_value(self._handle, self._id, field)
            return value

    def __iter__(self) -> Iterator[str]:
        with self._profile._lock:
            return iter([name for name, field in _FIELDS.items()
                         if lib.pgk_heap_knows(self._handle, self._id, field)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and (self._profile, self._id, self._generation) == (
            other._profile, other._id, other._generation)

    def __hash__(self) -> int:
        return hash((id(self._profile), self._id))

    def __repr__(self) -> str:
        frames = self.frames
        return f"<Context of {frames[0].function if frames else 'nothing'}, {dict(self)}>"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The call stack, the function that called malloc or its like first."""
        if self._frames is None:
            with self._profile._lock:
                room = _FRAMES_AT_ONCE
                while True:
                    array = ffi.new("struct pgk_heap_frame[]", room)
                    count = lib.pgk_heap_stack(self._handle, self._id, array, room)
                    if count <= room:
                        break
                    room = count
                self._frames = tuple(_as_frame(array[i]) for i in range(count))
        return self._frames

    def calls_through(self, function: str) -> bool:
        """A function of that name, written or for the linker, is on the call stack."""
        return any(function in (frame.linkage_name, frame.function) for frame in self.frames)

    @property
    def label(self) -> str:
        """"cold", "hot", "never used", "short-lived" or "": what the context is by its numbers; of
        a sampled profile "undecided" where more samples are needed to know."""
        with self._profile._lock:
            return text(lib.pgk_mib_label_name(lib.pgk_heap_label(self._handle, self._id)))

    def estimate(self, field: str) -> HeapEstimate | None:
        """How sure "AllocCount", "TotalSize" or "TotalAccessCount" of a sampled profile is; None of
        other fields, and where all objects were counted."""
        estimate = ffi.new("struct pgk_heap_estimate *")
        with self._profile._lock:
            known = lib.pgk_heap_estimate(self._handle, self._id, _FIELDS[field], estimate)
        return _as_estimate(estimate) if known else None

    @property
    def type_name(self) -> str:
        """The type of the objects; "" unknown."""
        with self._profile._lock:
            number = lib.pgk_heap_value(self._handle, self._id, lib.PGK_MIB_DataTypeId)
            return text(lib.pgk_heap_type_name(self._handle, number))

    @property
    def histogram(self) -> list[int] | None:
        """Accesses to each 8 bytes of the objects; None if it was not recorded."""
        with self._profile._lock:
            count = ffi.new("size_t *")
            values = lib.pgk_heap_histogram(self._handle, self._id, count)
            return None if values == ffi.NULL else list(ffi.unpack(values, count[0]))


@dataclasses.dataclass(frozen=True)
class HeapEstimate:
    """A figure of a sampled profile: with 95 % confidence that of all objects is from low to
    high, which may be infinite."""

    value: float
    low: float
    high: float


def _as_estimate(found: Any) -> HeapEstimate:
    return HeapEstimate(found.value, found.low, found.high)


@dataclasses.dataclass(frozen=True)
class HeapSampling:
    """How a profile was sampled. Figures are of the whole profile."""

    processes: int  #: of which a part of the objects was recorded
    samples: int  #: objects drawn
    hits: int  #: accesses seen
    sample_bytes: int  #: mean from one drawn object to the next, at most; 0 unknown
    exact: bool  #: the processes counted objects and bytes
    objects: HeapEstimate
    bytes: HeapEstimate
    accesses: HeapEstimate


@dataclasses.dataclass(frozen=True)
class HeapPoint:
    """What was alive at a time."""

    ms: int  #: since the process started
    bytes: int
    objects: int
    allocated_bytes: int  #: since the process started, freed ones too
    allocated_objects: int


@dataclasses.dataclass(frozen=True)
class HeapTimes:
    """How the heap was over time: of the process with the highest peak."""

    peak_ms: int
    peak_bytes: int
    peak_objects: int
    points: tuple[HeapPoint, ...]  #: the curve; () if there is none


@dataclasses.dataclass(frozen=True)
class Unnamed:
    """Code of a program or library that no name was found for."""

    module_path: str  #: where its file was; "" unknown
    build_id: bytes  #: b"" unknown
    frames: int  #: distinct addresses


class HeapProfile(Handle):
    """A heap profile: a collection of contexts."""

    kind = "heap"

    def __init__(self) -> None:
        super().__init__("pgk_heap", lib.pgk_heap_close)
        self._file: File | None = None
        self._for_people = False  # compilers do not know some of the frames
        #: The file that it was read from; None for what was merged or made.
        self.info: FileInfo | None = None
        call(lib.pgk_heap_new, self._box)

    @classmethod
    def read(cls, path: Path, *, binaries: BinariesLike = None, weight: int = 1) -> HeapProfile:
        """Reads a file of any format of heap profiles. Addresses get names by `binaries`, or, if
        that is None, by programs and libraries that are found where they were recorded or by build
        id; what no binary names stays an address."""
        return cls._of_file(File(path), binaries, weight)

    @classmethod
    def _of_file(cls, file: File, binaries: BinariesLike, weight: int = 1) -> HeapProfile:
        profile = cls()

        def read() -> None:
            profile.close()
            call(lib.pgk_heap_new, profile._box)
            call(lib.pgk_heap_read_file, profile._handle, file.handle, weight)

        profile._read(read, binaries)
        profile._file, profile.info = file, file.info()
        return profile

    @classmethod
    def read_all(cls, inputs: Iterable[Input], *, binaries: BinariesLike = None,
                 threads: int = 0) -> HeapProfile:
        """Adds up any number of files: paths, or pairs of a path and how often it counts."""
        profile, files = cls(), list(inputs)

        def read() -> None:
            profile.close()
            call_read_all(lib.pgk_heap_read_all, profile._box, files, threads)

        profile._read(read, binaries)
        return profile

    def _read(self, read: Callable[[], None], binaries: BinariesLike) -> None:
        read()
        try:
            self._give_names(binaries)
        except Error as error:
            if binaries is not None or error.status != "EMPTY":
                raise
            read()  # what was found names nothing

    def _give_names(self, given: BinariesLike) -> None:
        binaries = as_binaries(given, symbols_suffice=lib.pgk_heap_lacks_accesses(self._handle))
        if given is None or binaries.searches:
            found = sized("struct pgk_heap_found")
            with Both(self, binaries):
                call(lib.pgk_heap_find_binaries, self._handle, binaries._handle, found)
            if not found.program and not found.at_path:
                return
        self.name(binaries)

    def name(self, binaries: Binaries | Iterable[Path]) -> None:
        """Gives names of functions, files and lines to what is known by address or by number
        only, and finds the types of objects. What has no name stays an address."""
        binaries = as_binaries(binaries)
        with Both(self, binaries):
            self._changed()
            if lib.pgk_heap_needs_binaries(self._handle):
                self._for_people = True
                opts = sized("struct pgk_heap_symbolise_opts", keep_unnamed=True)
                call(lib.pgk_heap_symbolise, self._box, binaries._handle, opts, ffi.NULL)
            else:
                call(lib.pgk_heap_name_functions, self._handle, binaries._handle)
            call(lib.pgk_heap_find_types, self._handle, binaries._handle, True)

    @property
    def unnamed(self) -> list[Unnamed]:
        """The programs and libraries with code that name() found no name for, that with most
        first; what was merged or pruned afterwards is not in it."""
        with self._lock:
            found = sized("struct pgk_heap_unnamed")
            rows: list[Unnamed] = []
            while lib.pgk_heap_unnamed_at(self._handle, len(rows), found):
                size = found.build_id_size
                rows.append(Unnamed(text(found.path),
                                    ffi.buffer(found.build_id, size)[:] if size else b"",
                                    found.frames))
            return rows

    @property
    def needs_binaries(self) -> bool:
        """There are addresses that no program has named."""
        with self._lock:
            return bool(lib.pgk_heap_needs_binaries(self._handle))

    def __len__(self) -> int:
        """How many contexts there are."""
        with self._lock:
            return int(lib.pgk_heap_contexts(self._handle))

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Context]:
        return iter([Context(self, i) for i in range(len(self))])

    def top(self, count: int, by: str = "TotalSize") -> list[Context]:
        """The contexts with the largest number in a field, the largest first."""
        if by not in _FIELDS:
            raise ValueError(f"no field is called {by}: heap_fields() lists them")
        return sorted(self, key=lambda context: -context.get(by, 0))[:count]

    def total(self, field: str = "TotalSize") -> int:
        """A field added up over all contexts: "TotalSize" (bytes) or "AllocCount" (objects)."""
        if field not in _FIELDS:
            raise ValueError(f"no field is called {field}: heap_fields() lists them")
        return sum(context.get(field, 0) for context in self)

    def allocations_of(self, function: str) -> list[Context]:
        """The contexts whose call stack goes through a function: what it and all that it calls
        allocated."""
        return [context for context in self if context.calls_through(function)]

    def over_time(self) -> HeapTimes | None:
        """How the heap was over time; None if the profile does not tell."""
        with self._lock:
            times = sized("struct pgk_heap_times")
            lib.pgk_heap_over_time(self._handle, times)
            if not times.processes:
                return None
            points = tuple(HeapPoint(p.ms, p.bytes, p.objects, p.allocated_bytes,
                                     p.allocated_objects)
                           for p in (times.points[i] for i in range(times.n_points)))
            return HeapTimes(times.peak_ms, times.peak_bytes, times.peak_objects, points)

    def sampling(self) -> HeapSampling | None:
        """How the profile was sampled; None if all objects were recorded."""
        with self._lock:
            found = sized("struct pgk_heap_sampling")
            if not lib.pgk_heap_sampling(self._handle, found):
                return None
            return HeapSampling(found.processes, found.samples, found.hits, found.sample_bytes,
                                found.exact, _as_estimate(found.objects),
                                _as_estimate(found.bytes), _as_estimate(found.accesses))

    def add(self, frames: Iterable[Frame], values: Mapping[str, int]) -> None:
        """Adds a call stack, the function that called malloc first, and what is known of its
        objects, by names of fields. If the stack is there already, values are added to its own.

            profile = pgokit.HeapProfile()
            profile.add([pgokit.Frame.of("_Z4loadPKc", "load.cc", 12), pgokit.Frame.of("main")],
                        {"AllocCount": 4, "TotalSize": 4096})
        """
        unknown = [name for name in values if name not in _FIELDS]
        if unknown:
            raise ValueError(f"no field is called {unknown[0]}: heap_fields() lists them")
        array, count, kept = _as_frames(frames)
        numbers = ffi.new("struct pgk_heap_value[]", [
            {"field": _FIELDS[name], "value": value} for name, value in values.items()])
        allocation = sized("struct pgk_heap_allocation", frames=array, n_frames=count,
                           values=numbers, n_values=len(values))
        with self._lock:
            self._changed()
            call(lib.pgk_heap_build_context, self._handle, allocation)
        del kept  # the library has copied the strings

    def compare(self, before: HeapProfile) -> HeapComparison:
        """What changed since an earlier profile: what `pgokit diff --fail-on` has limits for."""
        figures = sized("struct pgk_heap_diff_figures")
        with Both(self, before):
            call(lib.pgk_heap_compare, before._handle, self._handle, figures)
        known = {}
        for what in "peak", "exit":
            unknown = getattr(figures, f"{what}_unknown")
            for name, sides in ((f"{what}_bytes", lib.PGK_HEAP_DIFF_NOW),
                                (f"{what}_bytes_before", lib.PGK_HEAP_DIFF_BEFORE),
                                (f"{what}_growth_percent",
                                 lib.PGK_HEAP_DIFF_NOW | lib.PGK_HEAP_DIFF_BEFORE)):
                known[name] = None if unknown & sides else getattr(figures, name)
        return as_figures(HeapComparison, figures, **known)

    def copy(self) -> HeapProfile:
        """Another profile that holds what this one does."""
        with self._lock:
            other = type(self)()
            other.close()
            call(lib.pgk_heap_copy, other._box, self._handle)
            other._for_people = self._for_people
            return other

    def merge(self, other: HeapProfile, weight: int = 1) -> None:
        """Adds all of another profile, `weight` times; equal call stacks become one context."""
        if weight != 1:
            other = other.copy()
            call(lib.pgk_heap_scale, other._handle, weight)
        with Both(self, other):
            self._changed()
            call(lib.pgk_heap_merge, self._handle, other._handle)
            self._for_people |= other._for_people

    def prune(self, *, min_bytes: int = 0, min_count: int = 0, cold_only: bool = False,
              hot_only: bool = False, max_depth: int = 0,
              collapse_recursion: bool = False, named_only: bool = False) -> HeapProfile:
        """A new profile without contexts below these numbers, with shorter stacks; with
        named_only, without frames that compilers do not know."""
        opts = sized("struct pgk_heap_prune_opts", min_bytes=min_bytes, min_count=min_count,
                     cold_only=cold_only, hot_only=hot_only, max_depth=max_depth,
                     collapse_recursion=collapse_recursion, named_only=named_only)
        with self._lock:
            other = type(self)()
            other.close()
            call(lib.pgk_heap_prune, other._box, self._handle, opts, ffi.NULL)
            other._for_people = self._for_people and not named_only
            return other

    def write(self, path: Path, to: str = "any", *, full_schema: bool = True,
              version: int = _NEWEST_RAW) -> None:
        """Writes a file, whole or not at all.

        to           who is to read it: "any" or a release as "llvm22" for an indexed profile
                     (.profdata); or a form: "yaml", "partial" (loses nothing), "raw"; or for
                     viewers "html", "pprof", "folded", "speedscope", "csv", "json",
                     "markdown"
        full_schema  of indexed profiles: all fields, not only the compiler's
        version      of raw profiles

        Compilers get no frames that they do not know: addresses, and code without debug
        information (see `unnamed`)."""
        target, name = lib.pgk_indexed_target(name_bytes(to)), path_bytes(path)
        if self._for_people and (target != ffi.NULL or to == "yaml"):
            with self.prune(named_only=True) as other:
                other.write(path, to, full_schema=full_schema)
                return
        with self._lock:
            if target != ffi.NULL:
                opts = sized("struct pgk_indexed_write_opts", target=target[0],
                             full_schema=full_schema)
                call(lib.pgk_indexed_write, self._handle, ffi.NULL, name, opts)
            elif to == "yaml":
                call(lib.pgk_heap_write_yaml, self._handle, name)
            elif to == "partial":
                call(lib.pgk_heap_write_partial, self._handle, name)
            elif to == "raw":
                call(lib.pgk_heap_write_raw, self._handle, name, version)
            else:
                title = file_title(self.info)
                opts = sized("struct pgk_heap_export_opts", title=title,
                             info=self._file._info if self._file else ffi.NULL)
                call(lib.pgk_heap_export, self._handle, name_bytes(to), name, opts)

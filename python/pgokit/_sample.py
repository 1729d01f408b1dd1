"""Sample profiles: what a sampling profiler saw, by function and line."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Iterator

from pgokit._compare import SampleChange, SampleComparison, as_figures
from pgokit._files import File, FileInfo, Input, call_read_all, file_title
from pgokit._library import (Both, Handle, Part, Path, call, demangled, ffi, lib, name_bytes,
                             path_bytes, sized, text)


@dataclasses.dataclass(frozen=True)
class Record:
    """A count at a place of a function."""

    line: int  #: behind the first line of the function, or a probe id
    discriminator: int  #: 0: none
    count: int  #: samples, calls, or objects
    name: str  #: linkage name of the function that was called, or of the virtual table; "" a line
    guid: int  #: of a name that is not known; else 0


class SampledFunction(Part):
    """A function, a calling context, or a function that was inlined in one."""

    __slots__ = ("_node", "_facts")

    def __init__(self, profile: SampleProfile, node: int) -> None:
        super().__init__(profile)
        self._node = node
        with profile._lock:
            self._facts = sized("struct pgk_sample_function")
            lib.pgk_sample_get(self._handle, node, self._facts)

    def _fact(self, name: str) -> Any:
        self._handle  # pylint: disable=pointless-statement; strings live as long as the profile
        return getattr(self._facts, name)

    def __repr__(self) -> str:
        return f"<SampledFunction {self.function}, {self.total} samples>"

    @property
    def linkage_name(self) -> str:
        """"": it is known by its GUID alone."""
        return text(self._fact("name"))

    @property
    def function(self) -> str:
        """The name that the programmer wrote, without parameters."""
        return demangled(self.linkage_name) or f"GUID {self.guid:#018x}"

    @property
    def guid(self) -> int:
        """The 64-bit id that compilers know the function by."""
        return int(self._fact("guid") or lib.pgk_sample_guid(self._fact("name")))

    @property
    def file(self) -> str:
        """The source file; "": unknown, or several."""
        return text(self._fact("file"))

    @property
    def total(self) -> int:
        """Samples in it and in what is inlined into it."""
        return int(self._fact("total"))

    @property
    def head(self) -> int:
        """Samples that entered it."""
        return int(self._fact("head"))

    @property
    def checksum(self) -> int:
        """Of a profile by probes: of the control flow graph; else 0."""
        return int(self._fact("checksum"))

    @property
    def inlined(self) -> bool:
        """It is inlined into its caller."""
        return bool(self._fact("inlined"))

    @property
    def caller(self) -> SampledFunction | None:
        """What it is inlined into or, of a context, called from."""
        node = self._fact("caller")
        return SampledFunction(self._of(), node) if node else None

    @property
    def call_line(self) -> int:
        """Of an inlined function or context: the line of the call, behind the caller's first."""
        return int(self._fact("line"))

    @property
    def inlinees(self) -> list[SampledFunction]:
        """The functions that are inlined into it, by place."""
        found, profile = [], self._of()
        with profile._lock:
            node = lib.pgk_sample_first_inlinee(self._handle, self._node)
            while node:
                found.append(SampledFunction(profile, node))
                node = lib.pgk_sample_next_inlinee(self._handle, node)
        return found

    @property
    def lines(self) -> list[Record]:
        """Samples of its lines or probes."""
        return self._records(lib.PGK_SAMPLE_LINE)

    @property
    def targets(self) -> list[Record]:
        """Functions that it called, and how often."""
        return self._records(lib.PGK_SAMPLE_TARGET)

    @property
    def types(self) -> list[Record]:
        """Types of objects that it used, by their virtual tables."""
        return self._records(lib.PGK_SAMPLE_TYPE)

    def _of(self) -> SampleProfile:
        assert isinstance(self._profile, SampleProfile)
        return self._profile

    def _records(self, kind: int) -> list[Record]:
        found = []
        with self._profile._lock:
            record = sized("struct pgk_sample_record", node=self._node)
            while lib.pgk_sample_next_record(self._handle, record):
                if record.kind == kind:
                    found.append(Record(record.line, record.discriminator, record.count,
                                        text(record.name), record.guid))
        return found


@dataclasses.dataclass(frozen=True)
class SampleSummary:
    """As compilers take it from a profile."""

    total_count: int  #: sum of samples
    max_count: int  #: of a line
    max_function_count: int  #: samples that entered a function
    num_counts: int  #: lines
    num_functions: int
    hot_count: int  #: from which on LLVM takes a line for hot
    cold_count: int  #: up to which it takes one for cold


class SampleProfile(Handle):
    """A sample profile: a collection of functions or calling contexts."""

    kind = "sample"

    def __init__(self) -> None:
        super().__init__("pgk_sample", lib.pgk_sample_close)
        self._file: File | None = None
        #: The file that it was read from; None for what was merged.
        self.info: FileInfo | None = None
        call(lib.pgk_sample_new, self._box)

    @classmethod
    def read(cls, path: Path, *, weight: int = 1) -> SampleProfile:
        """Reads a file of any format of sample profiles."""
        return cls._of_file(File(path), weight)

    @classmethod
    def _of_file(cls, file: File, weight: int = 1) -> SampleProfile:
        profile = cls()
        call(lib.pgk_sample_read_file, profile._handle, file.handle, weight)
        call(lib.pgk_sample_finish, profile._handle)
        profile._file, profile.info = file, file.info()
        return profile

    @classmethod
    def read_all(cls, inputs: Iterable[Input], *, threads: int = 0) -> SampleProfile:
        """Adds up any number of files: paths, or pairs of a path and how often it counts."""
        profile = cls()
        profile.close()
        call_read_all(lib.pgk_sample_read_all, profile._box, inputs, threads)
        call(lib.pgk_sample_finish, profile._handle)
        return profile

    def __len__(self) -> int:
        """How many functions, or contexts, there are."""
        with self._lock:
            return int(lib.pgk_sample_functions(self._handle))

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[SampledFunction]:
        """The one with the most samples first."""
        with self._lock:
            return iter([SampledFunction(self, lib.pgk_sample_function_at(self._handle, i))
                         for i in range(len(self))])

    def function(self, linkage_name: str) -> SampledFunction | None:
        """The function of this name on its own; None if it has no profile."""
        with self._lock:
            node = lib.pgk_sample_find_function(self._handle, name_bytes(linkage_name))
            return SampledFunction(self, node) if node else None

    def _is(self, trait: str) -> bool:
        with self._lock:
            info = sized("struct pgk_sample_info")
            lib.pgk_sample_info(self._handle, info)
            return bool(getattr(info, trait))

    @property
    def contexts(self) -> bool:
        """It is context-sensitive."""
        return self._is("contexts")

    @property
    def probes(self) -> bool:
        """Lines are ids of pseudo probes."""
        return self._is("probes")

    def summary(self) -> SampleSummary:
        """What compilers take from it."""
        with self._lock:
            s = sized("struct pgk_sample_summary")
            call(lib.pgk_sample_summarise, self._handle, s)
            return SampleSummary(s.total_count, s.max_count, s.max_function_count, s.num_counts,
                                 s.num_functions, lib.pgk_sample_hot_count(s),
                                 lib.pgk_sample_cold_count(s))

    def compare(self, base: SampleProfile) -> SampleComparison:
        """What changed since an earlier profile, of which functions have the same names."""
        box = ffi.gc(ffi.new("struct pgk_sample_diff **"), lib.pgk_sample_diff_close)
        figures, n = sized("struct pgk_sample_diff_figures"), ffi.new("size_t *")
        with Both(self, base):
            call(lib.pgk_sample_compare, box, base._handle, self._handle)
            lib.pgk_sample_diff_figures(box[0], figures)
            rows = lib.pgk_sample_diff_changes(box[0], n)
            changes = tuple(as_figures(SampleChange, rows[i], function=text(rows[i].function))
                            for i in range(n[0]))
            result = as_figures(SampleComparison, lib.pgk_sample_diff_overlap(box[0]),
                                growth_percent=figures.growth_percent,
                                new_percent=figures.new_percent,
                                moved_points=figures.moved_points, changes=changes)
            lib.pgk_sample_diff_close(box)  # which needs both profiles
        return result

    def merge(self, other: SampleProfile, weight: int = 1) -> None:
        """Adds all of another profile, `weight` times."""
        with Both(self, other):
            self._changed()
            call(lib.pgk_sample_merge, self._handle, other._handle, weight)
            call(lib.pgk_sample_finish, self._handle)

    def write(self, path: Path, to: str = "extbinary", *, md5: bool = False,
              compress: bool = False, vtables: bool = False, size_limit: int = 0) -> None:
        """Writes a file, whole or not at all.

        to          "extbinary", "text" or "binary" for LLVM, a release of gcc as "gcc15"; or for
                    viewers "html", "pprof", "folded", "speedscope", "csv", "json", "markdown"
        md5         names as GUIDs
        compress    sections with zlib
        vtables     types of objects, too, which LLVM 22 and later read
        size_limit  in bytes: leaves the coldest functions out to fit; 0: no limit"""
        opts = sized("struct pgk_sample_write_opts", md5=md5, compress=compress, vtables=vtables,
                     size_limit=size_limit)
        with self._lock:
            if to in _viewers():
                title = file_title(self.info)
                opts = sized("struct pgk_sample_export_opts", title=title,
                             info=self._file._info if self._file else ffi.NULL)
                call(lib.pgk_sample_export, self._handle, name_bytes(to), path_bytes(path), opts)
                return
            call(lib.pgk_sample_write_for, opts, name_bytes(to))
            call(lib.pgk_sample_write, self._handle, path_bytes(path), opts, ffi.NULL)


def _viewers() -> set[str]:
    names, i = set(), 0
    while (row := lib.pgk_export_format_at(i)) != ffi.NULL:
        names.add(text(row.name))
        i += 1
    return names

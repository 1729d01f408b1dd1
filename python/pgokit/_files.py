"""What files are: formats, and what is known of one that was read."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Iterable, Tuple, Union

from pgokit._library import Path, call, ffi, lib, path_bytes, text

_KINDS = {"heap": lib.PGK_KIND_HEAP, "sample": lib.PGK_KIND_SAMPLE,
          "counters": lib.PGK_KIND_INSTR, "gcov": lib.PGK_KIND_GCOV,
          "binary": lib.PGK_KIND_BINARY}
_KIND_NAMES = {number: name for name, number in _KINDS.items()}
_TEXT_SIZE = 512
Input = Union[Path, Tuple[Path, int]]


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of the library's table."""

    name: str
    kind: str  #: "heap", "sample", "counters", "gcov" or "binary"
    reads: str  #: versions, for people; "" none
    writes: str  #: versions, for people; "" none
    made_by: str  #: programs that write such files


@dataclasses.dataclass(frozen=True)
class FileInfo:
    """What a file turned out to be."""

    path: str
    format: Format
    version: int | None  #: None: the format does not number them
    text: str  #: "indexed profile, version 12, MemProf V3 with the compiler's fields"
    readers: str  #: which releases of LLVM and gcc read it, for people
    size_bytes: int  #: decompressed
    facts: dict[str, int]  #: what some formats tell, as enum pgk_file_fact says; without zeros


def _as_format(row: Any) -> Format:
    return Format(text(row.name), _KIND_NAMES[row.kind], text(row.reads), text(row.writes),
                  text(row.made_by))


def formats() -> list[Format]:
    """All formats that the library knows."""
    rows, i = [], 0
    while (row := lib.pgk_format_at(i)) != ffi.NULL:
        rows.append(_as_format(row))
        i += 1
    return rows


class File:
    """An open file whose format has been found."""

    def __init__(self, path: Path) -> None:
        self._box = ffi.gc(ffi.new("struct pgk_file **"), lib.pgk_file_close)
        self.path = path
        call(lib.pgk_file_open, self._box, path_bytes(path))
        self.handle = self._box[0]
        self._info = lib.pgk_file_info(self.handle)

    def kind(self) -> str:
        return _KIND_NAMES[lib.pgk_file_info_format(self._info).kind]

    def info(self) -> FileInfo:
        """Is complete once the file has been read."""
        buf = ffi.new("char[]", _TEXT_SIZE)
        names = ffi.typeof("enum pgk_file_fact").relements
        facts = {name.removeprefix("PGK_FACT_").lower(): lib.pgk_file_info_fact(self._info, number)
                 for name, number in names.items() if name != "PGK_FACTS"}
        return FileInfo(
            str(self.path), _as_format(lib.pgk_file_info_format(self._info)),
            lib.pgk_file_info_version(self._info) or None,
            text(lib.pgk_file_info_text(self._info, buf, _TEXT_SIZE)),
            text(lib.pgk_file_info_readers(self._info, buf, _TEXT_SIZE)),
            lib.pgk_file_info_size_bytes(self._info),
            {name: value for name, value in facts.items() if value})


def detect(path: Path) -> Format:
    """The format of a file, by its first bytes."""
    file = File(path)  # which the format is asked of must live until then
    return _as_format(lib.pgk_file_info_format(file._info))


def file_title(info: FileInfo | None) -> Any:
    """What is shown of the file in what is made for viewers; NULL if there is no single one."""
    return ffi.new("char[]", os.fsencode(os.path.basename(info.path))) if info else ffi.NULL


class Inputs:
    """Files to read, each a path or a pair of a path and how often it counts."""

    def __init__(self, inputs: Iterable[Input]) -> None:
        pairs = [given if isinstance(given, tuple) else (given, 1) for given in inputs]
        self._kept = [ffi.new("char[]", path_bytes(path)) for path, _ in pairs]
        self.paths = [path for path, _ in pairs]
        self.count = len(pairs)
        self.array = ffi.new("struct pgk_input[]", self.count)
        for row, path, (_, weight) in zip(self.array, self._kept, pairs):
            row.path, row.weight = path, weight


def call_read_all(function: Any, box: Any, inputs: Iterable[Input], threads: int) -> None:
    given = Inputs(inputs)
    call(function, box, given.array, given.count, threads)

"""The library behind the module: loading it, its errors, its messages, its texts."""

from __future__ import annotations

import logging
import os
import pathlib
import threading
from types import TracebackType
from typing import Any, Callable, Iterable, TypeVar, Union

from pgokit._cffi import ffi as ffi  # other modules take it from here

Path = Union[str, "os.PathLike[str]"]
_Self = TypeVar("_Self", bound="Handle")
_logger = logging.getLogger("pgokit")
_DEFAULT_NAME = "libpgokit.so.0"
_NO_OFFSET = 2**64 - 1
_LEVELS = {0: logging.WARNING, 1: logging.INFO, 2: logging.DEBUG}
_COMMON_NAME = 256  # bytes of a demangled one; templates of C++ get longer


def _name() -> str:
    """What to load: the library of the prefix that this module is installed below, where the
    dynamic linker need not look, or any that it finds."""
    folder = pathlib.Path(__file__).resolve().parent
    beside = folder.parents[2] / _DEFAULT_NAME  # of lib/python3.N/dist-packages/pgokit
    default = str(beside) if beside.exists() else _DEFAULT_NAME
    return os.environ.get("PGOKIT_LIBRARY", default)


def _load() -> Any:
    name = _name()
    try:
        # Profiles may be freed after this module, when the interpreter ends.
        return ffi.dlopen(name, ffi.RTLD_NOW | ffi.RTLD_NODELETE)
    except OSError as failure:
        raise ImportError(
            f"pgokit needs the library of that name, and it cannot be loaded: {failure}. Install "
            "libpgokit0 (or run ldconfig after make install), or set PGOKIT_LIBRARY to the path of "
            "the library") from None


lib = _load()
_libc = ffi.dlopen(None)


def text(pointer: Any) -> str:
    """A string of the library; "" where there is none."""
    if pointer == ffi.NULL:
        return ""
    raw: bytes = ffi.string(pointer)
    return raw.decode("utf-8", "surrogateescape")


def name_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def path_bytes(path: Path) -> bytes:
    return os.fsencode(path)


def demangled(linkage_name: str, *, parameters: bool = False) -> str:
    """The name of a function that a programmer wrote, with parameters or without."""
    if not linkage_name.startswith(("_Z", "_R")):
        return linkage_name
    name, size = name_bytes(linkage_name), _COMMON_NAME
    while True:
        buf = ffi.new("char[]", size)
        needed = lib.pgk_name_demangle(name, parameters, buf, size)
        if needed < size:
            return text(buf)
        size = needed + 1


def _printed(print_to: Callable[[Any], object]) -> str:
    """What a function of the library writes to a stream."""
    memory, size = ffi.new("char **"), ffi.new("size_t *")
    stream = _libc.open_memstream(memory, size)
    if stream == ffi.NULL:
        raise MemoryError
    try:
        print_to(stream)
    finally:
        _libc.fclose(stream)
        result: bytes = ffi.buffer(memory[0], size[0])[:]
        _libc.free(memory[0])
    return result.decode("utf-8", "surrogateescape")


class Error(Exception):
    """Something that the library could not do. str() of it is a sentence with all details.

    status    what kind of error it is: "CORRUPT", "TRUNCATED", "IO", ... as PGK_E_... of the C
              library
    file      the file that it is about, or None
    offset    the byte of the file that is to blame, or None
    format, version, record, field, found, expected, hint
              what else is known of the place, what is there, what should be, and what to do;
              None if it does not apply
    errno     of the system, if that refused something, or 0
    """

    def __init__(self, status: int, err: Any) -> None:
        def known(pointer: Any) -> str | None:
            return text(pointer) or None

        if err.status == 0:
            sentence = text(lib.pgk_status_text(status))
        else:
            sentence = _printed(lambda stream: lib.pgk_err_print(err, stream))
        super().__init__(sentence)
        names = ffi.typeof("enum pgk_status").elements
        self.status: str = names.get(status, "PGK_E_UNKNOWN").removeprefix("PGK_E_")
        self.file: str | None = os.fsdecode(ffi.string(err.file)) or None
        self.offset: int | None = None if err.offset == _NO_OFFSET or not err.status else err.offset
        self.errno: int = err.sys_errno
        self.format = known(err.format)
        self.version: int | None = err.version or None
        self.record = known(err.record)
        self.field = known(err.field)
        self.found = known(err.found)
        self.expected = known(err.expected)
        self.hint = known(err.hint)


def call(function: Any, *arguments: Any) -> int:
    """Calls what returns a status and takes a struct pgk_err last."""
    err = ffi.new("struct pgk_err *")
    status: int = function(*arguments, err)
    if status < 0:
        raise Error(status, err)
    return status


def sized(kind: str, **members: Any) -> Any:
    """A struct that begins with struct_size."""
    value = ffi.new(f"{kind} *", members)
    value.struct_size = ffi.sizeof(kind)
    return value


class Strings:
    """An array of C strings, and what keeps it alive."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._kept = [ffi.new("char[]", path_bytes(path)) for path in paths]
        self.array = ffi.new("const char *[]", self._kept) if self._kept else ffi.NULL
        self.count = len(self._kept)


class Handle:
    """Something that the library made, and that is freed with this object, or by close().

    Any thread may use it: calls for one object wait for one another."""

    def __init__(self, kind: str, close: Any) -> None:
        self._lock = threading.RLock()
        self._generation = 0
        self._close = close
        self._box = ffi.gc(ffi.new(f"struct {kind} **"), close)

    @property
    def _handle(self) -> Any:
        if self._box[0] == ffi.NULL:
            raise ValueError("it is closed, or an operation that failed left nothing of it")
        return self._box[0]

    def _changed(self) -> None:
        """What was found by position is not to be asked any more."""
        self._generation += 1

    def close(self) -> None:
        """Frees it now and not when the last reference goes. It cannot be used afterwards."""
        with self._lock:
            self._changed()
            self._close(self._box)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()


class Both:
    """Holds two objects at a time, in an order that cannot end in a deadlock."""

    def __init__(self, one: Handle, other: Handle) -> None:
        self._locks = [handle._lock for handle in sorted({id(one): one, id(other): other}.values(),
                                                         key=id)]

    def __enter__(self) -> None:
        for lock in self._locks:
            lock.acquire()

    def __exit__(self, *_: object) -> None:
        for lock in reversed(self._locks):
            lock.release()


class Part:
    """Something in a profile, which knows its place as long as the profile is not changed."""

    __slots__ = ("_profile", "_generation")

    def __init__(self, profile: Handle) -> None:
        self._profile = profile
        self._generation = profile._generation

    @property
    def _handle(self) -> Any:
        if self._generation != self._profile._generation:
            raise ValueError("the profile has been changed or closed since; get this from it again")
        return self._profile._handle


@ffi.callback("pgk_log_fn")  # type: ignore[misc]  # cffi has no types
def _log(_ctx: Any, level: int, message: Any) -> None:
    _logger.log(_LEVELS.get(level, logging.DEBUG), "%s", text(message))


lib.pgk_log_set(_log, ffi.NULL)

"""Sample profiles from one's own samples."""

from __future__ import annotations

from typing import Any, Callable, Iterable

from pgokit._library import call, ffi, lib, name_bytes
from pgokit._sample import SampleProfile


class BuiltFunction:
    """A function, a calling context or an inlined function of a profile that is being built.

    Lines are counted from the function's first line (0 to 65535), or ids of probes. What is added
    twice is added up."""

    __slots__ = ("_builder", "_node")

    def __init__(self, builder: SampleBuilder, node: int) -> None:
        self._builder, self._node = builder, node

    def line(self, line: int, samples: int, *, discriminator: int = 0) -> None:
        """Adds samples of a line."""
        self._builder._call(lib.pgk_sample_build_line, self._node, line, discriminator, samples)

    def calls(self, line: int, linkage_name: str, count: int, *, discriminator: int = 0) -> None:
        """Adds calls of a function from a line."""
        self._builder._call(lib.pgk_sample_build_target, self._node, line, discriminator,
                            name_bytes(linkage_name), count)

    def uses(self, line: int, vtable: str, objects: int, *, discriminator: int = 0) -> None:
        """Adds objects of a type, named by its virtual table ("_ZTV5Shape"), used at a line."""
        self._builder._call(lib.pgk_sample_build_type, self._node, line, discriminator,
                            name_bytes(vtable), objects)

    def inlinee(self, line: int, linkage_name: str, *, discriminator: int = 0) -> BuiltFunction:
        """The function that is inlined at a line."""
        return self._builder._node_of(lib.pgk_sample_build_inlinee, self._node, line, discriminator,
                                      name_bytes(linkage_name))

    def entered(self, samples: int) -> None:
        """Adds samples that entered it."""
        self._builder._call(lib.pgk_sample_build_counts, self._node, 0, samples)

    def checksum(self, checksum: int) -> None:
        """Of a profile by probes: sets the checksum of the control flow graph."""
        self._builder._call(lib.pgk_sample_build_checksum, self._node, checksum)


class SampleBuilder:
    """Makes a sample profile from one's own samples, in any order:

        builder = pgokit.SampleBuilder()
        builder.function("main").line(4, 120)
        builder.finish().write("app.afdo")

    contexts  it is context-sensitive
    probes    lines are ids of pseudo probes, and functions have checksums"""

    def __init__(self, *, contexts: bool = False, probes: bool = False) -> None:
        self._profile: SampleProfile | None = SampleProfile()
        self._call(lib.pgk_sample_build_kind, contexts, probes)

    def _open(self) -> SampleProfile:
        if self._profile is None:
            raise ValueError("it is finished, and nothing can be added")
        return self._profile

    def _call(self, function: Callable[..., Any], *arguments: Any) -> None:
        profile = self._open()
        with profile._lock:
            call(function, profile._handle, *arguments)

    def _node_of(self, function: Callable[..., Any], *arguments: Any) -> BuiltFunction:
        node = ffi.new("uint32_t *")
        self._call(function, *arguments, node)
        return BuiltFunction(self, node[0])

    def function(self, linkage_name: str) -> BuiltFunction:
        """The function of this name, which is added if it is new."""
        return self._node_of(lib.pgk_sample_build_function, name_bytes(linkage_name))

    def context(self, callers: Iterable[tuple[str, int]], linkage_name: str) -> BuiltFunction:
        """The function as it is called through these: linkage names and lines of calls, the
        outermost first. The profile has to be context-sensitive."""
        rows = [(ffi.new("char[]", name_bytes(name)), line) for name, line in callers]
        calls = ffi.new("struct pgk_sample_call[]", len(rows))
        for call_of, (name, line) in zip(calls, rows):
            call_of.function, call_of.line = name, line
        return self._node_of(lib.pgk_sample_build_context, calls, len(rows),
                             name_bytes(linkage_name))

    def finish(self) -> SampleProfile:
        """The profile. Samples in total are sums of lines and of what is inlined."""
        profile = self._open()
        self._call(lib.pgk_sample_build_totals)
        with profile._lock:
            call(lib.pgk_sample_finish, profile._handle)
        self._profile = None
        return profile

"""Programs and libraries, which give names to the addresses of profiles."""

from __future__ import annotations

from typing import Iterable, Union

from pgokit._library import Handle, Path, Strings, call, lib, path_bytes, sized, text


class Binaries(Handle):
    """The programs and libraries that a profile was recorded from, with their debug information.

    Others are looked for where the profile says that they were, if that is still the same build.
    Where none are given, they are looked for by the build ids that a profile names: in debug_dirs
    and sysroots, in /usr/lib/debug, in the caches of perf and of debuginfod and, if `download` is
    true and DEBUGINFOD_URLS is set, on the servers that it names.

    paths            the programs and libraries
    debug_dirs       folders with .build-id/xx/yyyy.debug
    sysroots         folders like a root folder
    threads          for symbolisation; 0: one for each processor
    symbols_suffice  without debug information take names of symbols instead of refusing"""

    def __init__(self, paths: Iterable[Path] = (), *, debug_dirs: Iterable[Path] = (),
                 sysroots: Iterable[Path] = (), threads: int = 0, use_caches: bool = True,
                 download: bool = False, symbols_suffice: bool = False) -> None:
        super().__init__("pgk_binaries", lib.pgk_binaries_close)
        paths, folders, roots = list(paths), Strings(debug_dirs), Strings(sysroots)
        #: None was given, so that they are looked for.
        self.searches = not paths and not folders.count and not roots.count
        opts = sized("struct pgk_binaries_opts", debug_dirs=folders.array,
                     n_debug_dirs=folders.count, sysroots=roots.array, n_sysroots=roots.count,
                     threads=threads, use_caches=use_caches, download=download,
                     symbols_suffice=symbols_suffice, find_binaries=self.searches, use_paths=True)
        call(lib.pgk_binaries_new, self._box, opts)
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Adds a program or library."""
        with self._lock:
            call(lib.pgk_binaries_add, self._handle, path_bytes(path))

    def add_debug(self, path: Path) -> None:
        """Takes debug information of a program or library that was added from this file."""
        with self._lock:
            call(lib.pgk_binaries_add_debug, self._handle, path_bytes(path))

    @property
    def paths(self) -> list[str]:
        """What was added and found."""
        with self._lock:
            return [text(lib.pgk_binaries_path(self._handle, i))
                    for i in range(lib.pgk_binaries_count(self._handle))]


BinariesLike = Union[Binaries, Iterable[Path], None]


def as_binaries(given: BinariesLike, symbols_suffice: bool = False) -> Binaries:
    """What was given, or a set that is filled by build id."""
    if isinstance(given, Binaries):
        return given
    if isinstance(given, (str, bytes)):
        raise TypeError("binaries is a list of paths, not one path")
    return Binaries(given or (), symbols_suffice=symbols_suffice)

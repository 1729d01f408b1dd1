"""What each release of LLVM writes and reads of heap profiles. The suites go through these rows, so
that a new release is a row here.
"""

import collections

# The newest index version that llvm-profdata writes, where records are merged from YAML; raw
# versions that it reads; MemProf and index versions that it and the compiler read, as far as they
# go; and the options by which the compiler uses a profile.
Release = collections.namedtuple("Release", "writes raw memprof index use")
OWN_FLAG = ("-fmemory-profile-use={}",)
ROWS = {
    14: Release(None, (), None, None, None),
    16: Release(None, (2,), range(0, 1), range(8, 10),
                ("-fprofile-use={}", "-mllvm", "-pgo-match-memprof=true")),
    19: Release(None, (3, 4), range(0, 4), range(8, 13), OWN_FLAG),
    22: Release("13", (3, 4, 5), range(2, 5), range(8, 14), OWN_FLAG),
    23: Release("14", (3, 4, 5), range(2, 5), range(8, 15), OWN_FLAG),
}
RELEASES = tuple(ROWS)
MEMPROF, INDEX = range(5), range(8, 15)  # all versions
READERS = tuple(release for release, row in ROWS.items() if row.memprof)
# Those that print records as YAML, and read it.
OF_YAML = tuple(release for release, row in ROWS.items() if row.writes)


def accepts(release, memprof, index):
    row = ROWS[release]
    return bool(row.memprof) and memprof in row.memprof and index in row.index


def reads_raw(version):
    """The releases that print the records of a raw version."""
    return [release for release, row in ROWS.items() if version in row.raw]


def reads_all(*versions):
    """The releases that read each of these MemProf versions."""
    return tuple(release for release in READERS
                 if all(version in ROWS[release].memprof for version in versions))


def use_options(release, profile):
    return [flag.format(profile) for flag in ROWS[release].use]

"""What two profiles of a kind have in common, and what changed: for gates and tables."""

from __future__ import annotations

import dataclasses
from typing import Any, Type, TypeVar

_Figures = TypeVar("_Figures")


def as_figures(kind: Type[_Figures], struct: Any, **more: Any) -> _Figures:
    """The fields of a struct that have the names of a class, which copies them."""
    names = [field.name for field in dataclasses.fields(kind)]
    return kind(**{name: getattr(struct, name) for name in names if name not in more}, **more)


@dataclasses.dataclass(frozen=True)
class HeapComparison:
    """Two heap profiles, context by context. Growth is in per cent of before, less than 0 for less
    than before, and 1e9 where there was nothing before."""

    bytes: int  #: allocated in all
    bytes_before: int
    objects: int  #: allocated in all
    objects_before: int
    new_bytes: int  #: in contexts that are new
    overlap: float  #: share of the bytes allocated in the same places, 0 to 1
    growth_percent: float  #: of the bytes
    objects_growth_percent: float
    new_percent: float  #: bytes in contexts that are new
    peak_bytes: int | None  #: alive at the peak; None: that profile does not hold it
    peak_bytes_before: int | None
    exit_bytes: int | None  #: alive at exit, likewise
    exit_bytes_before: int | None
    peak_growth_percent: float | None  #: of what was alive; None: one of them does not hold it
    exit_growth_percent: float | None


@dataclasses.dataclass(frozen=True)
class SampleChange:
    """A function or context on one side or both."""

    function: str  #: as the text format has it
    base_samples: int  #: 0: that side does not have it
    test_samples: int
    base_share: float  #: of all samples, 0 to 1
    test_share: float
    similarity: float  #: 0 to 1
    overlap: float


@dataclasses.dataclass(frozen=True)
class SampleComparison:
    """Two sample profiles, function by function; `base` is the earlier one."""

    similarity: float  #: of where the samples are, by share; 1: the same everywhere
    sample_overlap: float  #: samples that both have, of those that either has; 0 to 1
    base_samples: int
    test_samples: int
    growth_percent: float  #: of the samples, in per cent of base; 1e9: there were none
    new_percent: float  #: samples in functions that base does not have, likewise
    moved_points: float  #: of the function whose share moved most, in percentage points
    changes: tuple[SampleChange, ...]  #: the one whose share moved most first


@dataclasses.dataclass(frozen=True)
class CounterComparison:
    """How far two profiles of counters agree; `base` is the earlier one."""

    counters: float  #: of the smaller share of each counter; 1: the same distribution, 0: nothing
    base_total: float  #: sums of all counters
    test_total: float
    matched: int  #: functions in both
    mismatched: int  #: in both by name, with another hash or shape
    only_base: int  #: functions of one side alone
    only_test: int

"""What the benchmarks share: medians, ratios, a table, and what the kernel says of a process."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Watch = Callable[[], float]
"""A clock in seconds: the wall's, or that of the processors' work for this process."""

_TICKS = os.sysconf("SC_CLK_TCK")


def median(samples: Sequence[float]) -> float:
    """The median of samples in their own unit."""
    return statistics.median(samples)


def p95(samples: Sequence[float]) -> float:
    """The 95th percentile of samples in their own unit."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a report: a figure of ours against one of another, and the ratio aimed at."""

    metric: str
    ours: float
    other: float
    unit: str
    against: str
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """Ours over the other's."""
        return self.ours / self.other if self.other else float("inf")


def report(lines: Sequence[Line]) -> None:
    """Print the figures and ratios. Nothing is asserted: a figure belongs to one machine at one minute."""
    print(f"{'metric':<58} {'ours':>10} {'other':>10} {'unit':<6} {'ratio':>8} {'aim':>7}  against")
    for line in lines:
        aim = "" if line.aim is None else f"{line.aim:.3g}"
        mark = "" if line.aim is None or line.ratio <= line.aim else "  over"
        print(
            f"{line.metric:<58} {line.ours:>10.2f} {line.other:>10.2f} {line.unit:<6} {line.ratio:>8.3f} {aim:>7}  "
            f"{line.against}{mark}"
        )


def cpu_seconds(pid: int) -> float:
    """User and system time of one process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_mib(pid: int) -> tuple[float, float]:
    """Resident and peak resident size of one process, in MiB."""
    values = {
        key: int(value.split()[0])
        for key, _, value in (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        if key in ("VmRSS", "VmHWM")
    }
    return values["VmRSS"] / 1024, values["VmHWM"] / 1024

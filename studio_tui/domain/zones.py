"""Wall clocks: what a zone's clock shows at an instant, and at which instants it shows a given time.

Instants and wall times are whole seconds; a wall time is counted as if the clock ran in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

_DAY = 86_400
_EPOCH = datetime(1970, 1, 1)  # wall times have no zone


@lru_cache(maxsize=256)
def load_zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name, or ``None`` when there is none of that name here."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; not a name at all (../x); a folder (America)
        return None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """When a clock shows a wall time.

    ``first`` is the instant; inside a spring gap, which skips the wall time, it is the end of the gap and ``skipped_to`` is
    what the clock shows there. ``second`` is the repeat in an autumn hour.
    """

    first: int
    second: int | None = None
    skipped_to: int | None = None


@dataclass(frozen=True, slots=True)
class WallClock:
    """The clock of one zone."""

    zone: ZoneInfo

    def offset(self, instant: int) -> int:
        """Seconds that the clock is ahead of UTC at an instant."""
        ahead = datetime.fromtimestamp(instant, UTC).astimezone(self.zone).utcoffset()
        return int(ahead.total_seconds()) if ahead is not None else 0

    def at(self, instant: int) -> int:
        """The wall time at an instant."""
        return instant + self.offset(instant)

    def occurrence(self, wall: int) -> Occurrence:
        """When the clock shows ``wall``. Raises :class:`OverflowError` beyond the calendar."""
        naive = _EPOCH + timedelta(seconds=wall)
        before, after = (self._offset_of(naive, fold) for fold in (0, 1))
        if before == after:
            return Occurrence(wall - before)
        if before > after:
            return Occurrence(wall - before, second=wall - after)
        jump = self._change(wall - after, wall - before)
        return Occurrence(jump, skipped_to=jump + after)

    def changes(self, start: int, end: int) -> Iterator[int]:
        """The instants between ``start`` and ``end`` at which the clock is moved; two within one day count as one."""
        for day in range(start, end, _DAY):
            if self.offset(day) != self.offset(day + _DAY):
                yield self._change(day, day + _DAY)

    def repeated_stretch(self, wall: int) -> tuple[int, int] | None:
        """Where the stretch that the clock shows twice begins and ends around ``wall``; ``None`` when ``wall`` comes once."""
        found = self.occurrence(wall)
        if found.second is None:
            return None
        before, after = self.offset(found.first), self.offset(found.second)
        turn = self._change(found.first, found.second)
        return turn + after, turn + before

    def _offset_of(self, naive: datetime, fold: int) -> int:
        ahead = naive.replace(tzinfo=self.zone, fold=fold).utcoffset()
        return int(ahead.total_seconds()) if ahead is not None else 0

    def _change(self, low: int, high: int) -> int:
        """The first instant in ``(low, high]`` whose offset is not that of ``low``."""
        start = self.offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            if self.offset(middle) == start:
                low = middle
            else:
                high = middle
        return high

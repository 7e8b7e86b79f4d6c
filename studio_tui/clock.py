"""Where the program gets the time from, so that tests can hold it still."""

from __future__ import annotations

import time


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Wall-clock time in epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; its zero has no meaning."""
        return time.monotonic()

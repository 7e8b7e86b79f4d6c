"""Until when nothing is fired: kept beside the home, so that it survives a restart and every console of the home goes by it."""

from __future__ import annotations

import math
from typing import Final

from studio_tui.application.ports import Clock, SidecarPort

HOLD_KEY: Final = "scheduler.hold_until"
"""Where the sidecar keeps the end of a hold, in epoch seconds."""

_NONE: Final = "none"


class Hold:
    """Reads and sets the end of the hold."""

    def __init__(self, sidecar: SidecarPort, clock: Clock) -> None:
        self._sidecar, self._clock = sidecar, clock

    async def until(self) -> float | None:
        """When firing goes on, in epoch seconds; ``None`` while nothing holds it."""
        kept = await self._sidecar.get(HOLD_KEY)
        try:
            until = float(kept or "nan")
        except ValueError:
            return None
        return until if math.isfinite(until) and until > self._clock.now() else None

    async def put(self, until: float | None) -> None:
        """Hold until then, or hold no longer."""
        await self._sidecar.put(HOLD_KEY, _NONE if until is None else repr(until))

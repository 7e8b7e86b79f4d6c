"""Notes of what was done through this program, kept beside the store."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.ports import Clock, SidecarPort
from studio_tui.application.wellformed import mended

_LOG = logging.getLogger(__name__)


class Journal:
    """Writes notes. A note that cannot be kept never undoes the act that it is about."""

    def __init__(self, sidecar: SidecarPort, clock: Clock) -> None:
        self._sidecar = sidecar
        self._clock = clock

    async def note(self, act: str, target: str, result: str, detail: Mapping[str, object] | None = None) -> None:
        """Keep one note: what was done, to which record, and what came of it."""
        try:
            at = self._clock.now()
            await self._sidecar.journal(at=at, act=act, target=mended(target), result=result, detail=detail or {})
        except StudioApplicationError as error:
            _LOG.warning("the journal could not be written (%s of %s): %s", act, target, error)

"""Shows and their plays, as the disk and the store know them together."""

from __future__ import annotations

from studio_tui.application.errors import NotFound, StateUnavailable
from studio_tui.application.guard import guarded
from studio_tui.application.models.shows import ShowDetail, ShowSummary
from studio_tui.application.ports import Clock, ShowFilesPort, ShowReadPort
from studio_tui.application.show_views import Sides, paired, plays_of, show_fields, summarize
from studio_tui.domain.shows import ShowRecord


@guarded
class ShowService:
    """Shows as screens and commands see them. When one side cannot be asked, the other is shown and the trouble named."""

    def __init__(self, *, reads: ShowReadPort, files: ShowFilesPort, clock: Clock) -> None:
        self._reads = reads
        self._files = files
        self._clock = clock

    async def list_shows(self) -> tuple[ShowSummary, ...]:
        """Every show that disk or store knows, newest activity first. Raises :class:`StateUnavailable` if neither answers."""
        disk = await self._files.list_shows()
        store, trouble = await self._stored(disk)
        now = self._clock.now()
        shows = [summarize(sides, now=now, trouble=trouble) for sides in paired(store, disk)]
        return tuple(sorted(shows, key=lambda show: (-(show.updated_at or 0.0), show.topic)))

    async def get_show(self, topic: str) -> ShowDetail:
        """One show with its plays and documents. Raises :class:`NotFound`."""
        disk = await self._files.read_show(topic)
        trouble = None
        try:
            store = await self._reads.get_show(topic)
        except StateUnavailable as error:
            if disk is None:
                raise
            store, trouble = None, _trouble(error)
        if disk is None and store is None:
            raise NotFound("show", topic)
        sides = Sides(store, disk)
        plays = plays_of(sides, now=self._clock.now())
        return ShowDetail.model_validate(
            {
                **show_fields(sides, plays, trouble=trouble),
                "base_branch": sides.first("base_branch"),
                "integration_branch": sides.first("integration_branch"),
                "show_dir": sides.first("show_dir"),
                "plays": plays,
                "documents": dict(disk.documents) if disk else {},
            }
        )

    async def _stored(self, disk: tuple[ShowRecord, ...]) -> tuple[tuple[ShowRecord, ...], str | None]:
        try:
            return await self._reads.list_shows(), None
        except StateUnavailable as error:
            if not disk:
                raise
            return (), _trouble(error)


def _trouble(error: StateUnavailable) -> str:
    return f"the store could not be asked: {error.reason}"

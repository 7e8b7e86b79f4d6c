"""Tags and labels of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.tags import LabelRun, RunLabel, RunTags, TagCount, TagRun, UntagRun
from studio_tui.application.ports import Clock, SidecarPort
from studio_tui.application.ports.projects import TagPort

_ALL: Final = 1_000


@guarded
class TagService:
    """What people write on runs. None of it moves a run's times."""

    def __init__(self, *, tags: TagPort, sidecar: SidecarPort, clock: Clock) -> None:
        self._tags = tags
        self._journal = Journal(sidecar, clock)

    async def list_tags(self) -> tuple[TagCount, ...]:
        """Tags in their order, each with its number of runs; the first thousand."""
        return tuple(TagCount(tag=tag, runs=runs) for tag, runs in await self._tags.all_tags(limit=_ALL))

    async def tags_of(self, run_ids: Sequence[str]) -> tuple[RunTags, ...]:
        """The tags of these runs, in the order asked for; a run without any, or that is not there, has none."""
        if not run_ids:
            return ()
        found = await self._tags.tags_of(run_ids)
        return tuple(RunTags(run_id=run_id, tags=found.get(run_id, ())) for run_id in dict.fromkeys(run_ids))

    async def add_tag(self, command: TagRun) -> RunTags:
        """Tag a run; one that it has already stays as it is. Raises :class:`ValidationFailure`, :class:`NotFound`."""
        tags = await self._tags.add_tag(command.run_id, command.tag)
        await self._journal.note("run.tag", command.run_id, "done", {"tag": command.tag})
        return RunTags(run_id=command.run_id, tags=tags)

    async def remove_tag(self, command: UntagRun) -> RunTags:
        """Take a tag off a run; nothing happens when it is not there."""
        tags = await self._tags.remove_tag(command.run_id, command.tag)
        await self._journal.note("run.untag", command.run_id, "done", {"tag": command.tag})
        return RunTags(run_id=command.run_id, tags=tags)

    async def set_label(self, command: LabelRun) -> RunLabel:
        """Label a run, or take its label off.

        Raises :class:`ValidationFailure`, :class:`NotFound`, and :class:`Conflict` when the label is not the one seen.
        """
        stored = await self._tags.set_label(command.run_id, command.label, seen=command.expected_label)
        detail = {"before": command.expected_label, "after": stored}
        await self._journal.note("run.label", command.run_id, "done", detail)
        return RunLabel(run_id=command.run_id, label=stored)

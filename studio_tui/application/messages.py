"""Windows of a transcript: which messages stand in them, and the system message that stands before them."""

from __future__ import annotations

from typing import Final

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.message_views import message_view, paired
from studio_tui.application.models.runs import MessagePage, MessageQuery
from studio_tui.application.pauses import in_slices
from studio_tui.application.ports import MessageReadPort, RunReadPort
from studio_tui.domain.runs import BranchRecord, MessageRecord, MessageWindow, RunRecord, effective_status

_WEIGHT: Final = 32_768
"""Bytes of bodies that weigh as much as one short message does."""

_NOTHING: Final = MessageWindow((), 0, 0, older=False)


class Transcripts:
    """Reads windows of runs' transcripts."""

    def __init__(self, runs: RunReadPort, messages: MessageReadPort) -> None:
        self._runs = runs
        self._messages = messages

    async def window(self, run: RunRecord, query: MessageQuery) -> MessagePage:
        """The messages that ``query`` asks for. Raises :class:`NotFound` for a branch that is not the run's.

        Where the window reaches the beginning, the system message comes first even if the stored list lacks it: ``li agent``
        links it from the branch alone (lionagi 0.36). A whole run shows it if one branch is all it has; with several, each
        branch shows its own.
        """
        if query.before is not None and query.after is not None:
            raise ValidationFailure.of("after", "exclusive", "give either before or after, not both")
        branches = await self._runs.branches(run.run_id)
        branch = _branch(branches, query.branch_id)
        progression = branch.progression_id if branch else run.progression_id
        window = await self._read(progression, query)
        preface = () if query.after is not None or window.older else await self._preface(branch, branches, window)
        return MessagePage(
            items=paired(await in_slices((*preface, *window.messages), message_view, weight=_weight)),
            start=window.start,
            end=window.end,
            has_older=window.older,
            live=effective_status(run.status) == "running",
        )

    async def _read(self, progression: str | None, query: MessageQuery) -> MessageWindow:
        if progression is None:
            return _NOTHING
        if query.before is not None:
            return await self._messages.before(progression, query.before, limit=query.limit)
        if query.after is not None:
            return await self._messages.after(progression, query.after, limit=query.limit)
        return await self._messages.tail(progression, limit=query.limit)

    async def _preface(
        self, branch: BranchRecord | None, branches: tuple[BranchRecord, ...], window: MessageWindow
    ) -> tuple[MessageRecord, ...]:
        speaking = branch if branch is not None else branches[0] if len(branches) == 1 else None
        system = speaking.system_message_id if speaking else None
        if system is None or any(message.message_id == system for message in window.messages):
            return ()
        return (await self._messages.by_ids((system,))).messages


def _weight(message: MessageRecord) -> int:
    return 1 + (message.size_bytes // _WEIGHT if message.content is not None else 0)


def _branch(branches: tuple[BranchRecord, ...], branch_id: str | None) -> BranchRecord | None:
    if branch_id is None:
        return None
    for branch in branches:
        if branch.branch_id == branch_id:
            return branch
    raise NotFound("branch", branch_id)

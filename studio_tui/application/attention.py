"""Deciding about things that need attention, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.attention import (
    AttentionChange,
    AttentionDisposition,
    AttentionHistoryQuery,
    AttentionStanding,
    DecideAttention,
    ReopenAttention,
)
from studio_tui.application.models.common import Page, PageQuery
from studio_tui.application.pages import number_of, page_of
from studio_tui.application.paging import cut, encode_cursor, name_key
from studio_tui.application.ports import ActProvenance, Clock, SidecarPort
from studio_tui.application.ports.attention import AttentionPort, Decision
from studio_tui.application.provenance import actor_of
from studio_tui.application.views import view
from studio_tui.domain.attention import Disposition, DispositionChange, clears, kind_of


@guarded
class AttentionService:
    """Decisions about items. The items are derived from runs, schedules and plays, and are never changed by a decision."""

    def __init__(self, *, attention: AttentionPort, sidecar: SidecarPort, by: ActProvenance, clock: Clock) -> None:
        self._attention = attention
        self._journal = Journal(sidecar, clock)
        self._actor = actor_of(by)
        self._clock = clock

    async def list_dispositions(self, query: PageQuery) -> Page[AttentionDisposition]:
        """What holds now, by item."""
        key = name_key("attention", query.cursor)
        found = await self._attention.current(after=key[1] if key else None, limit=query.limit + 1)
        shown, more = cut(found, query.limit)
        cursor = encode_cursor("attention", ("", shown[-1].item_id)) if more else None
        return Page(items=tuple(map(self._view, shown)), limit=query.limit, has_next=more, next_cursor=cursor)

    async def standing(self, item_ids: Sequence[str]) -> tuple[AttentionStanding, ...]:
        """How these items stand, in the order asked for; one about which nothing was ever decided has revision 0."""
        if not item_ids:
            return ()
        holding = await self._attention.dispositions_of(item_ids)
        revisions = await self._attention.revisions_of(item_ids)
        return tuple(
            AttentionStanding(
                item_id=item,
                revision=revisions.get(item, 0),
                disposition=self._view(holding[item]) if item in holding else None,
            )
            for item in dict.fromkeys(item_ids)
        )

    async def decide(self, command: DecideAttention) -> AttentionDisposition:
        """Decide about an item, in place of a decision that holds.

        Raises :class:`ValidationFailure`, and :class:`Conflict` when the item was opened again since the revision seen.
        """
        if kind_of(command.item_id) is None or not command.item_id.partition(":")[2].strip():
            raise ValidationFailure.of("item_id", "unknown", "must be run:ID, inv:ID, sched:ID or play:TOPIC:NAME")
        decision = Decision(
            item_id=command.item_id,
            state=command.state,
            source_status=command.source_status,
            actor=self._actor,
            note=command.note,
            expires_at=command.expires_at,
            revision=command.expected_revision,
        )
        stored = await self._attention.decide(decision)
        await self._journal.note(f"attention.{command.state}", command.item_id, "done", {"note": command.note})
        return self._view(stored)

    async def reopen(self, command: ReopenAttention) -> AttentionStanding:
        """Take a decision back. Where none holds, nothing is written."""
        if await self._attention.reopen(command.item_id, actor=self._actor):
            await self._journal.note("attention.reopen", command.item_id, "done")
        return (await self.standing((command.item_id,)))[0]

    async def history(self, query: AttentionHistoryQuery) -> Page[AttentionChange]:
        """What was decided, the newest first."""

        async def fetch(key: tuple[float, str] | None, limit: int) -> Sequence[DispositionChange]:
            before = number_of(key)
            if query.item_id is None:
                return await self._attention.history(before=before, limit=limit)
            found = reversed(await self._attention.history_of(query.item_id))
            return [change for change in found if before is None or change.sequence < before][:limit]

        return await page_of(query, "attention history", fetch, lambda c: (c.sequence, c.change_id), _change)

    def _view(self, disposition: Disposition) -> AttentionDisposition:
        return view(AttentionDisposition, disposition, clears=clears(disposition, self._clock.now()))


def _change(change: DispositionChange) -> AttentionChange:
    return view(AttentionChange, change)

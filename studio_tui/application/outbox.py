"""The outbox: what waits to be delivered, what could not be, and what a person does about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.common import Page
from studio_tui.application.models.outbox import (
    AcknowledgeDispatch,
    Dispatch,
    DispatchCount,
    DispatchDetail,
    DispatchQuery,
    MessageTransport,
    PurgeDispatch,
    PurgeDispatches,
    PurgeReport,
    RetryDispatch,
)
from studio_tui.application.pages import page_of
from studio_tui.application.ports import ActProvenance, Clock, SidecarPort
from studio_tui.application.ports.commands import TransportPort
from studio_tui.application.ports.outbox import OutboxPort
from studio_tui.application.provenance import actor_of
from studio_tui.application.views import view
from studio_tui.domain.outbox import DispatchRecord
from studio_tui.domain.statuses import DISPATCH


@guarded
class OutboxService:
    """Messages as a person sees them. The token that a consumer answers with is a secret and is left out."""

    def __init__(
        self, *, outbox: OutboxPort, transports: TransportPort, sidecar: SidecarPort, by: ActProvenance, clock: Clock
    ) -> None:
        self._outbox, self._transports = outbox, transports
        self._journal = Journal(sidecar, clock)
        self._actor = actor_of(by)

    async def list_dispatches(self, query: DispatchQuery) -> Page[Dispatch]:
        """A page of messages, the newest first. Raises :class:`ValidationFailure` for a status that is none."""
        unknown = sorted(set(query.status) - set(DISPATCH.statuses))
        if unknown:
            allowed = ", ".join(DISPATCH.statuses)
            raise ValidationFailure.of("status", "unknown", f"{unknown[0]} is no status of a message; allowed: {allowed}")
        return await page_of(
            query,
            "outbox",
            lambda key, limit: self._outbox.list_dispatches(status=frozenset(query.status), before=key, limit=limit),
            lambda record: (record.created_at, record.dispatch_id),
            lambda record: view(Dispatch, record),
        )

    async def get_dispatch(self, dispatch_id: str) -> DispatchDetail:
        """One message with what is delivered. Raises :class:`NotFound`."""
        found = await self._outbox.get_dispatch(dispatch_id)
        if found is None:
            raise NotFound("message", dispatch_id)
        return _detail(found)

    async def counts(self) -> tuple[DispatchCount, ...]:
        """How many messages there are, by status."""
        return _counts(await self._outbox.counts())

    async def transport(self) -> MessageTransport:
        """By which command the host delivers messages, or why it attempts none."""
        found = await asyncio.to_thread(self._transports.transport)
        return MessageTransport(program=found.template[0] if found.template else None, problem=found.problem)

    async def acknowledge(self, command: AcknowledgeDispatch) -> Dispatch:
        """Say that the consumer has it; a second time changes nothing.

        Raises :class:`NotFound`, :class:`PermissionDenied` for another token, :class:`Conflict` when no answer is wanted.
        """
        stored = await self._outbox.acknowledge(command.dispatch_id, command.token)
        await self._journal.note("outbox.acknowledge", command.dispatch_id, "done")
        return view(Dispatch, stored)

    async def retry(self, command: RetryDispatch) -> Dispatch:
        """Try a message again. Raises :class:`NotFound`, and :class:`Conflict` for one that has not failed."""
        stored = await self._outbox.retry(command.dispatch_id)
        await self._journal.note("outbox.retry", command.dispatch_id, "done")
        return view(Dispatch, stored)

    async def purge(self, command: PurgeDispatch) -> None:
        """Delete one message. Raises :class:`NotFound`."""
        if not await self._outbox.purge(command.dispatch_id, actor=self._actor):
            raise NotFound("message", command.dispatch_id)
        await self._journal.note("outbox.purge", command.dispatch_id, "done")

    async def purge_older(self, command: PurgeDispatches) -> PurgeReport:
        """Delete messages, or only count them. Raises :class:`ValidationFailure` when it is not said which."""
        if command.dry_run:
            counted = await self._outbox.count_older(status=command.status, before=command.before)
        else:
            counted = await self._outbox.purge_older(status=command.status, before=command.before, actor=self._actor)
            await self._journal.note("outbox.purge", "outbox", "done", dict(counted))
        return PurgeReport(dry_run=command.dry_run, total=sum(counted.values()), counts=_counts(counted))


def _counts(counted: Mapping[str, int]) -> tuple[DispatchCount, ...]:
    return tuple(DispatchCount(status=status, count=count) for status, count in sorted(counted.items()))


def _detail(record: DispatchRecord) -> DispatchDetail:
    payload = None if record.payload is None else {k: v for k, v in record.payload.items() if k != "ack_token"}
    return view(DispatchDetail, record, payload=payload)

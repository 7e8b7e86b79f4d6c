"""Delivers the messages of the outbox by the configured command.

A claim lasts :data:`~studio_tui.domain.outbox.LEASE` seconds, longer than a command may take. Whoever dies in between leaves a
message that is delivered again after that: at least once, never by two at the same time.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence

from studio_tui.application.ports.commands import CommandPort, TransportPort
from studio_tui.application.ports.outbox import OutboxDeliveryPort
from studio_tui.domain.outbox import DispatchRecord, destination_fault
from studio_tui.domain.transports import SECONDS, filled

log = logging.getLogger(__name__)


class Deliveries:
    """A kind of errand (see :mod:`studio_tui.scheduler.errands`). While no command is configured, nothing is attempted."""

    def __init__(self, outbox: OutboxDeliveryPort, transports: TransportPort, commands: CommandPort) -> None:
        self._outbox, self._transports, self._commands = outbox, transports, commands
        self._template: tuple[str, ...] = ()

    async def next_at(self) -> float | None:
        """When a message comes due. Those past their time are expired by the way, also while nothing can be delivered."""
        await self._outbox.expire_due()
        self._template = (await asyncio.to_thread(self._transports.transport)).template
        return await self._outbox.next_attempt_at() if self._template else None

    async def claim(self, limit: int) -> Sequence[DispatchRecord]:
        """Begin an attempt on the messages that are due."""
        return await self._outbox.claim_due(limit=limit)

    async def run(self, errand: DispatchRecord) -> None:
        """Hand one message to the command."""
        error = await self._deliver(errand)
        if error is None:
            await self._outbox.delivered(errand)
        else:
            log.warning("message %s: attempt %d failed: %s", errand.dispatch_id, errand.attempt, error)
            await self._outbox.failed(errand, error)

    async def _deliver(self, message: DispatchRecord) -> str | None:
        if message.payload is None:
            return "the payload cannot be read"
        if fault := destination_fault(message.deliver_to):
            return f"the destination {fault}"
        argv, text = filled(self._template, deliver_to=message.deliver_to, payload=json.dumps(dict(message.payload)))
        return (await self._commands.tell(argv, text, seconds=SECONDS)).error

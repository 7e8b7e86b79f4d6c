"""What the tests of messages share: a store, and hosts of which each has a connection of its own.

    python -m tests.scheduler.messages HOME PROGRAM ARGUMENT…

is a host that delivers what is due by that command until it is killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from studio_tui.application.ports import Clock
from studio_tui.application.ports.commands import Transport
from studio_tui.clock import SystemClock
from studio_tui.domain.outbox import DispatchRecord
from studio_tui.processes.commands import Commands
from studio_tui.scheduler.deliveries import Deliveries
from studio_tui.scheduler.errands import Errands
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.interop.written import our_store


def sh(script: str, *arguments: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script, "sh", "{deliver_to}", *arguments)


@dataclass
class Configured:
    """Implements ``TransportPort``."""

    template: tuple[str, ...] = ()

    def transport(self) -> Transport:
        return Transport(self.template, None if self.template else "none")


@dataclass
class Courier:
    """A host as far as messages go."""

    errands: Errands[DispatchRecord]
    delivery: OutboxDeliveryStore
    outbox: OutboxStore

    async def counted(self, **counts: int) -> None:
        """Return once there are so many messages of each status."""
        async with asyncio.timeout(60):
            while await self.outbox.counts() != counts:  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(0.01)

    async def found(self, dispatch_id: str) -> DispatchRecord:
        record = await self.outbox.get_dispatch(dispatch_id)
        assert record is not None
        return record


@asynccontextmanager
async def courier(
    home: Path, *template: str, clock: Clock | None = None, hosts: Callable[[], bool] = lambda: True
) -> AsyncIterator[Courier]:
    """One that has not begun to work yet."""
    clock = clock or SystemClock()
    async with our_store(home) as db:
        delivery = OutboxDeliveryStore(db, clock)
        kind = Deliveries(delivery, Configured(template), Commands(lambda: dict(os.environ)))
        errands = Errands("deliveries", kind, clock=clock, hosts=hosts)
        try:
            yield Courier(errands, delivery, OutboxStore(db, clock))
        finally:
            await errands.stop()


async def _main(home: Path, *template: str) -> None:
    async with courier(home, *template) as made:
        await made.errands.start()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), *sys.argv[2:]))

"""Builds that host when they must not, or do not when they should; and that stop what they should leave alone."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from studio_tui.scheduler import carrying, host
from studio_tui.scheduler.host import SchedulerHost
from studio_tui.scheduler.lease import FileLease
from studio_tui.scheduler.reaping import Reapers
from studio_tui.scheduler.supervision import Fate, Supervisor
from tests.simulation.mutant import Mutant
from tests.simulation.simple import lasting
from tests.simulation.stages import alone
from tests.simulation.trouble import Troublemaker


def lease_not_asked(patch: pytest.MonkeyPatch) -> None:
    """Every console thinks that it hosts."""
    patch.setattr(FileLease, "acquire", lambda self: True)
    patch.setattr(FileLease, "holds", lambda self: True)


def never_taken_over(patch: pytest.MonkeyPatch) -> None:
    """A lease that somebody has held is never free again."""
    original = FileLease.acquire
    patch.setattr(FileLease, "acquire", lambda self: original(self) if self.last_host() is None or self.holds() else False)


def stopped_host_keeps_its_place(patch: pytest.MonkeyPatch) -> None:
    """A host that lives and does nothing is waited for."""
    patch.setattr(FileLease, "_is_quiet", lambda self, mark: False)


def peer_not_looked_for(patch: pytest.MonkeyPatch) -> None:
    """Who hosts does not notice that a daemon of the peer was started."""
    patch.setattr(host, "_PEER_EVERY", math.inf)


def deadline_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A process may take as long as it likes."""
    original = carrying._exit_code

    async def exit_code(child: Any, order: asyncio.Future[Any], _deadline: float) -> int | None:
        return await original(child, order, math.inf)

    patch.setattr(carrying, "_exit_code", exit_code)


def hold_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Somebody holds all firing, and it goes on."""
    patch.setattr(SchedulerHost, "held_until", property(lambda self: None))


def the_living_reaped(patch: pytest.MonkeyPatch) -> None:
    """As long as it is silent, a run counts as dead."""

    async def gone(*_arguments: object) -> str:
        return "gone"

    patch.setattr(Reapers, "_life", gone)


def nothing_reaped(patch: pytest.MonkeyPatch) -> None:
    """Rows that lost their process stay open."""

    async def sweep(self: Reapers) -> None: ...

    patch.setattr(Reapers, "sweep", sweep)


def leaving_stops(patch: pytest.MonkeyPatch) -> None:
    """A console that ends takes its firings with it, although it was told to leave them."""
    original = Supervisor.stop

    async def stop(self: Supervisor, *, terminate: bool) -> tuple[Fate, ...]:
        return await original(self, terminate=True)

    patch.setattr(Supervisor, "stop", stop)


async def _daemon(trouble: Troublemaker) -> None:
    await asyncio.sleep(60.0)
    trouble.start_daemon(seconds=600.0)


async def _leaving(trouble: Troublemaker) -> None:
    await asyncio.sleep(60.0)
    trouble.stop(trouble.the_host(), terminate=False, after=20.0)


async def _freezing(trouble: Troublemaker) -> None:
    await asyncio.sleep(60.0)
    trouble.freeze(trouble.the_host(), seconds=600.0, steal=False)


_SHORT = lasting(1.0, 2.0)


async def _holding(trouble: Troublemaker) -> None:
    await asyncio.sleep(60.0)
    trouble.hold(seconds=600.0, released=700.0)


MUTANTS = (
    Mutant("the lease is not asked", lease_not_asked, {"two-hosts", "missed-policy"}),
    Mutant("nobody takes over", never_taken_over, {"no-host"}),
    Mutant("a stopped host keeps its place", stopped_host_keeps_its_place, {"no-host"}, alone(_SHORT, trouble=_freezing)),
    Mutant("the peer is not looked for", peer_not_looked_for, {"beside-peer"}, alone(_SHORT, trouble=_daemon)),
    Mutant("the hold is not looked at", hold_forgotten, {"held"}, alone(_SHORT, trouble=_holding)),
    Mutant("what lives is reaped", the_living_reaped, {"reaped"}, alone(lasting(600.0, 700.0, recording=1.0))),
    Mutant("nothing is reaped", nothing_reaped, {"left-open"}, alone(lasting(1.0, 2.0, recording=1.0), days=0.005)),
    Mutant("the deadline is forgotten", deadline_forgotten, {"deadline"}, alone(lasting(3000.0, 4000.0), interval_sec=600)),
    Mutant("leaving stops what runs", leaving_stops, {"stopped"}, alone(lasting(200.0, 300.0), trouble=_leaving)),
)

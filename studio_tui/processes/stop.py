"""Stop a process group: TERM, then KILL to what is left, and never a signal to what is not proven ours.

The kernel gives a group's number to nobody else while one process is still in it. So a group stays ours for as long as each look
at it finds a member that an earlier look had found; from then on its other members are ours too.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from studio_tui.application.ports import StopReport
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import CREATE_TOLERANCE, alive, identify

RUN_MARKER: Final = "STUDIO_TUI_RUN"
"""Environment variable by which every process of a firing is known, whatever group it moved to."""

_LOOK_EVERY: Final = 0.05
_AFTER_KILL: Final = 2.0


@dataclass(slots=True)
class _Group:
    """The members of a group that are proven ours, by pid with their start times."""

    number: int
    marker: str | None
    known: dict[int, float] = field(default_factory=dict)
    outside: tuple[ProcessIdentity, ...] = ()

    def look(self) -> tuple[int, ...] | None:
        """Pids of the members that still run; ``None`` when the group can no longer be proven ours."""
        members = _members(self.number)
        if members and not any(_agrees(self.known.get(pid), created) for pid, (created, _) in members.items()):
            return None
        self.known.update({pid: created for pid, (created, _) in members.items()})
        return tuple(pid for pid, (_, ended) in members.items() if not ended)

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.number, number)


async def stop_group(leader: ProcessIdentity, *, grace: float) -> StopReport:
    """Stop the group that ``leader`` leads; see :class:`StopReport` for what can come of it.

    ``grace`` is in seconds. Stopped (SIGSTOP) members are continued, so that TERM reaches them.
    """
    group = await asyncio.to_thread(_prove, leader)
    if isinstance(group, str):
        return StopReport(refused=group)
    group.signal(signal.SIGTERM)
    group.signal(signal.SIGCONT)
    left = await _until_gone(group, grace)
    killed = 0
    if left:
        killed = len(left)
        group.signal(signal.SIGKILL)
        left = await _until_gone(group, _AFTER_KILL)
    return StopReport(killed=killed, left=left or (), escaped=await asyncio.to_thread(_escaped, group))


async def _until_gone(group: _Group, seconds: float) -> tuple[int, ...] | None:
    """Members that run after at most ``seconds``; ``None`` when the group is not provably ours any more."""
    end = time.monotonic() + seconds
    while True:
        left = await asyncio.to_thread(group.look)
        if not left or time.monotonic() >= end:
            return left
        await asyncio.sleep(_LOOK_EVERY)


def _prove(leader: ProcessIdentity) -> _Group | str:
    lives = alive(leader)
    if lives is None:
        return f"process {leader.pid} cannot be proven to be the one that was launched"
    if not lives:
        return f"process {leader.pid} has ended"
    try:
        if os.getpgid(leader.pid) != leader.pid:
            return f"process {leader.pid} does not lead its group"
    except ProcessLookupError:
        return f"process {leader.pid} has ended"
    group = _Group(leader.pid, _marker(leader.pid), {leader.pid: leader.created_at or 0.0}, _descendants_outside(leader.pid))
    return group if group.look() is not None else f"process {leader.pid} has ended"


def _agrees(known: float | None, created: float) -> bool:
    return known is not None and abs(known - created) <= CREATE_TOLERANCE


def _members(number: int) -> Mapping[int, tuple[float, bool]]:
    """Start time of each member of a group, and whether it has ended and only waits to be collected."""
    import psutil

    members = {}
    for pid in psutil.pids():
        try:
            if os.getpgid(pid) != number:
                continue
            process = psutil.Process(pid)
            members[pid] = (process.create_time(), process.status() == psutil.STATUS_ZOMBIE)
        except (ProcessLookupError, PermissionError, psutil.Error):
            continue
    return members


def _descendants_outside(leader: int) -> tuple[ProcessIdentity, ...]:
    import psutil

    found = []
    with suppress(psutil.Error):
        for child in psutil.Process(leader).children(recursive=True):
            with suppress(ProcessLookupError, psutil.Error):
                if os.getpgid(child.pid) != leader:
                    found.append(identify(child.pid))
    return tuple(found)


def _marker(pid: int) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).environ().get(RUN_MARKER)
    except (psutil.Error, OSError):
        return None


def _escaped(group: _Group) -> tuple[int, ...]:
    found = {identity.pid for identity in group.outside if alive(identity)}
    if group.marker is not None:
        found.update(pid for pid in marked(group.marker) if pid not in group.known)
    return tuple(sorted(found))


def marked(run_id: str) -> tuple[int, ...]:
    """Pids of the processes that carry the mark of this firing and run."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(RUN_MARKER) == run_id and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return tuple(found)

"""The real lease on a real file, for processes that die, freeze, or lose it in memory only."""

from __future__ import annotations

from pathlib import Path

from studio_tui.domain.identity import ProcessIdentity
from studio_tui.scheduler.lease import LEASE_SUFFIX, FileLease
from tests.simulation.machine import Machine


class ProcessLease(FileLease):
    """The lease of the store ``state.db`` in a folder, as one simulated process holds it."""

    def __init__(self, home: Path, machine: Machine, identity: ProcessIdentity) -> None:
        clock = machine.clock
        super().__init__(
            home / "state.db",
            identity=identity,
            label=f"console {identity.pid}",
            now=clock.now,
            alive=machine.alive,
            steady=clock.monotonic,
        )

    def die(self) -> None:
        """The process is gone, and the kernel frees its locks."""
        self._drop()


def lose_lease(home: Path) -> None:
    """The file that was locked is removed under its holder."""
    (home / f"state.db{LEASE_SUFFIX}").unlink(missing_ok=True)

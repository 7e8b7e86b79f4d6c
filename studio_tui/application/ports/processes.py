"""Ports that start processes, stop them, and read what they wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from studio_tui.domain.identity import ProcessIdentity


class NotWanted(Exception):
    """A process was not started because nobody wants it any more."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A process to start: argv, directory, extra environment; its two streams go to files named by ``run_id``.

    ``wanted`` is asked when the launch has been noted, right before the process is started.
    """

    run_id: str
    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    wanted: Callable[[], bool] = field(default=lambda: True, compare=False)


@dataclass(frozen=True, slots=True)
class OutputTail:
    """The end of what a firing wrote, decoded with bad bytes marked, and the full sizes in bytes."""

    stdout: str
    stderr: str
    stdout_bytes: int
    stderr_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchNote:
    """What is known of a launch outside the store. ``at`` is in epoch seconds.

    ``identity`` is ``None`` when the host died between beginning to start the process and noting which one it became.
    ``supervisor`` is the process that waits for it, and ``None`` when it was left to run by itself.
    """

    run_id: str
    at: float
    identity: ProcessIdentity | None
    supervisor: ProcessIdentity | None


@dataclass(frozen=True, slots=True)
class StopReport:
    """What stopping a process group came to.

    ``refused`` says why nothing was signalled; ``killed`` counts the members that TERM did not end; ``left`` are members that
    live on all the same; ``escaped`` are descendants that live on in groups of their own, which we do not signal.
    """

    refused: str | None = None
    killed: int = 0
    left: tuple[int, ...] = ()
    escaped: tuple[int, ...] = ()


class LaunchedProcess(Protocol):
    """A process that we started."""

    @property
    def identity(self) -> ProcessIdentity:
        """What proves that it is ours."""
        ...

    async def wait(self) -> int:
        """Its exit code, as soon as the leader has ended; a death by signal is the negative number."""
        ...

    async def terminate(self, *, grace: float) -> StopReport:
        """TERM to its group, then KILL to what is left after ``grace`` seconds."""
        ...

    def release(self) -> None:
        """Supervise it no longer: it lives on by itself, and its note says that nobody waits for it."""
        ...


class ProcessPort(Protocol):
    """Starts processes and answers whether one lives."""

    async def launch(self, spec: LaunchSpec) -> LaunchedProcess:
        """Start a process in a session of its own.

        Raises :class:`OSError` with the reason when it cannot be started, :class:`NotWanted` when it is not wanted any more.
        """
        ...

    def alive(self, identity: ProcessIdentity) -> bool | None:
        """Whether exactly this process lives; ``None`` when that cannot be known from here."""
        ...

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        """As :meth:`LaunchedProcess.terminate`, for a process that an earlier host launched."""
        ...


class LaunchNotePort(Protocol):
    """What was noted beside the store when firings were launched, so that the next host can follow them."""

    def recall(self, run_id: str) -> LaunchNote | None:
        """The note of this firing, or ``None`` when nobody here ever began to launch it."""
        ...

    def forget(self, run_id: str) -> None:
        """Drop the note: the firing has ended."""
        ...


class RunLogPort(Protocol):
    """Reads what firings wrote, and keeps it from filling the disk."""

    def trim(self, run_id: str) -> bool:
        """Drop the middle of what a firing wrote, where it is too much; whether it may soon be too much again. Blocking."""
        ...

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        """The last ``limit`` bytes of each stream, or ``None`` when nothing was kept."""
        ...

"""What an invariant is: it sees each commit and each launch and says what is wrong, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import Zone
from tests.simulation.machine import Machine, Process
from tests.simulation.watching import Book, Observer, Step


@dataclass(frozen=True)
class Breach:
    """An invariant that does not hold: its name, and what shows it."""

    invariant: str
    words: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.words}"


@dataclass(frozen=True)
class Pace:
    """The bounds of the scheduler's periods, in seconds. Long worlds use wider ones than the product, for speed alone.

    ``silence`` is that of a run after which the reapers, each ``reap``, look whether its process lives.
    """

    longest_sleep: float = 30.0
    take_over: float = 1.0
    beat: float = 10.0
    recover: float = 30.0
    follow: float = 2.0
    defer: float = 30.0
    reap: float = 60.0
    silence: float = 300.0

    @property
    def quiet(self) -> float:
        """After which a host that gives no sign of life loses its place."""
        return 6 * self.beat

    @property
    def notice(self) -> float:
        """Within which a host that looks undisturbed has noticed anything."""
        return max(self.longest_sleep, self.recover, self.defer) + self.take_over + self.follow + 60.0


@dataclass
class Facts:
    """What the world knows and the store does not say. Instants are virtual seconds.

    ``calm_since`` is when somebody last disturbed the consoles, ``back`` when each of them came back that was frozen or had no
    answer from the store (for ever away until then), ``clock_set`` when the wall clock was last set, ``frozen`` when each
    console was last continued and after how many seconds; ``seen`` is how late a console first saw an instant as due, and in
    which epoch of the schedule; ``stopping`` are the consoles that were told to end, ``terminating`` those of them that were
    told to end their firings too; ``hosting`` and ``willing`` are the consoles that host and those that would, ``rivals`` what
    those say who have seen a second host; ``peer_since`` is since when a daemon of the peer runs, ``held_since`` since when
    somebody holds all firing, until ``held_until`` of the wall clock; ``edits`` is when a person last changed each schedule,
    ``epochs`` how often.
    """

    zone: Zone
    pace: Pace
    slots: int
    deadline: float
    machine: Machine
    book: Book
    calm_since: float = 0.0
    hosts: int = 0
    hosting: tuple[str, ...] = ()
    willing: tuple[str, ...] = ()
    rivals: dict[str, str] = field(default_factory=dict)
    peer_since: float | None = None
    held_since: float | None = None
    held_until: float = -math.inf
    epochs: dict[str, int] = field(default_factory=dict)
    edits: dict[str, float] = field(default_factory=dict)
    ledger: dict[str, list[tuple[float, float, int]]] = field(default_factory=dict)
    seen: dict[tuple[str, str, float], tuple[float, int]] = field(default_factory=dict)
    clock_set: float = -1.0
    passed_over: bool = False
    broken: set[str] = field(default_factory=set)
    stopping: set[str] = field(default_factory=set)
    terminating: set[ProcessIdentity] = field(default_factory=set)
    back: dict[ProcessIdentity, float] = field(default_factory=dict)
    frozen: dict[str, tuple[float, float]] = field(default_factory=dict)

    def epoch(self, schedule_id: str) -> int:
        """How often a person has changed this schedule: an instant counts anew after that."""
        return self.epochs.get(schedule_id, 0)

    def clock(self) -> float:
        """Virtual seconds."""
        return self.machine.clock.monotonic()

    def edited(self, schedule_id: str, at: float) -> None:
        """A person has changed this schedule."""
        self.epochs[schedule_id] = self.epoch(schedule_id) + 1
        self.edits[schedule_id] = at

    def edited_within(self, schedule_id: str, at: float, seconds: float) -> bool:
        """Whether a person has changed this schedule so short a time ago."""
        return at - self.edits.get(schedule_id, -math.inf) <= seconds

    def undisturbed(self, run_id: str) -> float:
        """Since when the console that waits for a firing could do so; for ever in the future while it cannot."""
        note = self.machine.notes.get(run_id)
        supervisor = note.supervisor if note is not None else None
        return 0.0 if supervisor is None or supervisor not in self.machine.consoles else self.back.get(supervisor, 0.0)

    def held_up(self, console: str, at: float) -> float:
        """For how many seconds a console was frozen just before a virtual instant."""
        ended, seconds = self.frozen.get(console, (-math.inf, 0.0))
        return seconds if at - ended < 60.0 else 0.0

    def spent(self, schedule_id: str, before: float) -> tuple[float, int]:
        """What had been reported before a virtual instant."""
        found = [(usd, tokens) for at, usd, tokens in self.ledger.get(schedule_id, ()) if at <= before]
        return sum(usd for usd, _ in found), sum(tokens for _, tokens in found)


class Rule(Protocol):
    """One invariant, or a few that look at the same thing. Any of the methods may be left as it is."""

    def see(self, step: Step, facts: Facts) -> Iterable[Breach]:
        """After each commit."""
        return ()

    def launched(self, process: Process, facts: Facts) -> Iterable[Breach]:
        """After each start of a process."""
        return ()

    def signalled(self, process: Process, by: ProcessIdentity, facts: Facts) -> Iterable[Breach]:
        """Before a console stops a process."""
        return ()

    def inspect(self, now: float, at: float, facts: Facts) -> Iterable[Breach]:
        """From time to time, whether or not anything happened."""
        return ()

    def at_end(self, observer: Observer, facts: Facts) -> Iterable[Breach]:
        """Once everything has come to rest."""
        return ()

"""A world: a machine, two consoles on one store, and everything that is known about them. Nothing happens here by itself."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import traceback
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from studio_tui.application.ports import LaunchSpec
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.scheduler.reaping import ReapAfter
from tests.simulation.children import Children
from tests.simulation.console import Console, Settings
from tests.simulation.invariants import every_rule
from tests.simulation.leasing import lose_lease
from tests.simulation.machine import Machine, Process, Script
from tests.simulation.making import Behaviour
from tests.simulation.rules import Breach, Facts, Pace
from tests.simulation.rules_liveness import too_late
from tests.simulation.store import ACT, Gate, SimDB
from tests.simulation.telling import described
from tests.simulation.virtual_time import VirtualLoop, WorldClock
from tests.simulation.watching import Observer

SHOWN_EVENTS = 40


@dataclass(frozen=True)
class Plan:
    """What a world is like. Times are in seconds; ``lag`` is how often a step of a console takes a while."""

    seed: int
    began: float
    seconds: float
    pace: Pace
    zone: Zone
    slots: int
    deadline: float
    ask: bool
    lag: float


class World:
    """Implements ``Surroundings`` for its consoles and judges each commit by the rules."""

    def __init__(self, plan: Plan, loop: VirtualLoop, folder: Path) -> None:
        self.plan, self.over = plan, False
        self.clock = WorldClock(loop, plan.began)
        self.events: deque[str] = deque(maxlen=SHOWN_EVENTS)
        self.passed: Counter[str] = Counter()
        self._digest = hashlib.sha256()
        self._folder = str(folder)
        self._lags = random.Random(f"{plan.seed}/lags")
        self._scripts = random.Random(f"{plan.seed}/scripts")
        self.gate = Gate()
        self.db = SimDB(folder / "state.db", self.gate, self.look)
        children = Children(self.db, self.clock, self._reported)
        self.machine = Machine(self.clock, self._script, children, self.say, self._started, self._signalled)
        self.observer = Observer(folder / "state.db")
        self.facts = Facts(plan.zone, plan.pace, plan.slots, plan.deadline, self.machine, self.observer.book)
        self.rules = every_rule()
        self.behaviours: dict[str, Behaviour] = {}
        self.consoles: dict[str, Console] = {}
        self.every_console: list[Console] = []
        self.trouble: list[Trouble] = []
        self.mute: set[str] = set()
        self.breach: Breach | None = None
        self.failure: BaseException | None = None
        self.finished = asyncio.Event()
        self.played_out = asyncio.Event()
        self._settings = Settings(
            plan.zone, plan.slots, plan.deadline, folder, str(folder / "bin"), plan.ask, reap_after(plan.pace)
        )
        self._starts: Counter[str] = Counter()
        make_executables(folder / "bin")

    # --- consoles -----------------------------------------------------------------------------------------------------

    async def open_console(self, name: str) -> Console:
        """Start a console under this name, in place of the one that is gone."""
        self._starts[name] += 1
        console = Console(
            f"{name}{self._starts[name]}",
            self,
            machine=self.machine,
            gate=self.gate,
            look=self.look,
            settings=self._settings,
            peer_runs=lambda: self.facts.peer_since is not None,
            hold=self._hold,
        )
        self.consoles[name] = console
        self.every_console.append(console)
        self.say(console.name, "starts")
        self.disturbed()
        await console.run(console.start(), "start")
        return console

    @property
    def living(self) -> list[Console]:
        """Consoles that are up and not frozen."""
        return [console for console in self.consoles.values() if console.up and not console.owner.stopped]

    async def _hold(self) -> float | None:
        return None if self.facts.held_since is None else self.facts.held_until

    def lose_lease(self) -> None:
        """Somebody removes the file of the lease."""
        lose_lease(self._settings.home)

    # --- Surroundings -------------------------------------------------------------------------------------------------

    def passes(self, console: Console, point: str) -> None:
        self.passed[point] += 1
        for trouble in list(self.trouble):
            trouble.at(console, point)

    def lag(self) -> float:
        if self._lags.random() >= self.plan.lag:
            return 0.0
        return self._lags.choice((0.001, 0.01, 0.1, 1.0))

    def answers(self, console: Console) -> bool:
        return console.name not in self.mute

    def hears(self, console: Console, name: str, answer: object, asked: float) -> None:
        """What the store told a console: which instants it has seen, and how late."""
        if name == "list_armed_cron":  # it begins to host
            self.disturbed()
            self.facts.seen = {key: late for key, late in self.facts.seen.items() if key[0] != console.name}
        elif name == "list_due" and isinstance(answer, tuple):
            for schedule in answer:
                if isinstance(schedule, ScheduleRecord) and schedule.next_fire_at is not None and schedule.next_fire_at <= asked:
                    self._sees(console, schedule, schedule.next_fire_at, asked - schedule.next_fire_at)

    def _sees(self, console: Console, schedule: ScheduleRecord, due: float, late: float) -> None:
        key, facts = (console.name, schedule.schedule_id, due), self.facts
        if key not in facts.seen:
            facts.seen[key] = (late, facts.epoch(schedule.schedule_id))
            self.judge(too_late(console.name, schedule, late, facts))

    # --- judging ------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """A commit: what it changed, and whether that may be."""
        try:
            step = self.observer.look(ACT.get(), self.clock.now(), self.clock.monotonic())
            for line in described(step):
                self.say(step.act.who, f"{step.act.name}: {line}")
            self.judge(breach for rule in self.rules for breach in rule.see(step, self.facts))
        except Exception as failure:
            self.fail(failure)

    def inspect(self) -> None:
        """A look at what should have happened by now."""
        now, at = self.clock.now(), self.clock.monotonic()
        facts = self.facts
        hosts = sum(console.host.state == "hosting" for console in self.living)
        if hosts != facts.hosts:
            self.disturbed()
        facts.hosts = hosts
        facts.hosting = tuple(console.name for console in self.living if console.hosting)
        willing = (console.name for console in self.living if console.willing and console.name not in facts.stopping)
        facts.willing = tuple(willing) if facts.peer_since is None else ()
        facts.rivals = {console.name: words for console in self.living if (words := console.host.rival) is not None}
        self.judge(breach for rule in self.rules for breach in rule.inspect(now, at, self.facts))

    def judge(self, breaches: Iterable[Breach]) -> None:
        """Keep the first breach and end the world with it."""
        for breach in breaches:
            if self.breach is None:
                self.breach = breach
                self.say("rules", str(breach))
            self.finished.set()

    def fail(self, failure: BaseException) -> None:
        """Something broke that is no rule's business."""
        self.failure = self.failure or failure
        self.finished.set()

    def disturbed(self) -> None:
        """Whoever hosts may need a while from now."""
        self.facts.calm_since = self.clock.monotonic()

    # --- telling ------------------------------------------------------------------------------------------------------

    def say(self, who: str, words: str) -> None:
        """One line of the events, the same in every run of this seed."""
        at = self.clock.monotonic()
        shown = datetime.fromtimestamp(self.clock.now(), UTC).strftime("%Y-%m-%d %H:%M:%S")
        line = f"day {at / 86_400:7.3f}  {shown}Z  {who}: {words}"
        self._digest.update(line.replace(self._folder, "").encode())
        self.events.append(line)

    def digest(self) -> str:
        """What two runs must have in common: every event and every stored row."""
        whole = self._digest.copy()
        for row in self.observer.everything():
            whole.update(row.replace(self._folder, "").encode())
        return whole.hexdigest()

    def _started(self, process: Process) -> None:
        self.judge(breach for rule in self.rules for breach in rule.launched(process, self.facts))

    def _signalled(self, process: Process, by: ProcessIdentity) -> None:
        self.judge(breach for rule in self.rules for breach in rule.signalled(process, by, self.facts))

    def _script(self, spec: LaunchSpec) -> Script:
        firing = self.facts.book.firings[spec.run_id]
        return self.behaviours[firing.schedule_id].script(self._scripts)

    def _reported(self, run_id: str, usd: float, tokens: int) -> None:
        schedule_id = self.facts.book.firings[run_id].schedule_id
        self.facts.ledger.setdefault(schedule_id, []).append((self.clock.monotonic(), usd, tokens))


def reap_after(pace: Pace) -> ReapAfter:
    """When the reapers look at what, at this pace."""
    return ReapAfter(run=pace.silence, no_runs=pace.silence / 5, firing=24 * pace.silence, every=pace.reap)


class Trouble:
    """Something that happens to a console when it passes a point."""

    def at(self, console: Console, point: str) -> None:
        """The console is there."""
        raise NotImplementedError


class Ear(logging.Handler):
    """Hears what the product logs: a traceback is a breach, whatever else came of it."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        self._world.say(record.name, record.getMessage())
        if record.levelno >= logging.ERROR and record.exc_info and record.exc_info[0] is not None:
            raised = "".join(traceback.format_exception(*record.exc_info)).strip()
            self._world.judge([Breach("no-faults", f"{record.getMessage()}\n{raised}")])


def make_executables(folder: Path) -> None:
    """The commands that schedules name. They are looked up and never started."""
    folder.mkdir()
    for name in ("true", "li"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)

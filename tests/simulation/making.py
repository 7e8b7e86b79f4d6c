"""Worlds from a seed: schedules of every trigger and policy, and what their processes do."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio_tui.domain.cadence import first_fire
from studio_tui.domain.schedules import ScheduleRecord, Zone
from tests.simulation.machine import RunScript, Script

ZONES = (
    None,
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "America/St_Johns",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Africa/Casablanca",
)
"""Both changes of daylight saving, half-hour offsets, clocks that move by half an hour, four changes a year."""

RARE = (
    *("0 3 * * *", "30 2 * * *", "30 1 * * *", "15 2 * * *", "0 0 * * *", "45 23 * * *", "@daily", "@weekly", "@monthly"),
    *("15 9 * * 1-5", "0 12 * * mon#1", "0 9 * * l5", "0 0 l * *", "0 0 1,15 * 1", "45 4 29 2 *", "0 8 * * * 0 2026"),
    *("15 10 * * * 30", "5 */6 * * *", "17 3,15 * * *", "30 1-3 * * *", "0 0 1 1 *"),
)
FREQUENT = ("0 * * * *", "*/30 9-11 * * *", "20 */2 * * *", "@hourly")
DENSE = ("* * * * *", "*/5 * * * *", "*/15 * * * *", "*/2 * * * * 20", "* * * * * 0,30", "7 * * * *")
BROKEN = ({"cron_expr": "0 0 30 2 *"}, {"cron_expr": "61 * * * *"}, {"cron_expr": None}, {"resolved_timezone": "Mars/Olympus"})


@dataclass(frozen=True)
class Behaviour:
    """What the processes of one schedule are like: lengths in seconds, and how often something goes wrong."""

    shortest: float
    longest: float
    failing: float = 0.2
    refused: float = 0.05
    stubborn: float = 0.1
    recording: float = 0.0

    def script(self, random: random.Random) -> Script:
        """One process of this kind."""
        runs = tuple(_run(random) for _ in range(random.choice((1, 1, 2)))) if random.random() < self.recording else ()
        return Script(
            seconds=round(random.uniform(self.shortest, self.longest), 3),
            code=random.choice((1, 2, 3, 130)) if random.random() < self.failing else 0,
            refused="no such file (simulated)" if random.random() < self.refused else None,
            stubborn=random.random() < self.stubborn,
            starting=random.choice((0.0, 0.0, 0.01, 2.0)),
            runs=runs,
            closes=bool(runs) and random.random() < 0.2,
        )


@dataclass(frozen=True)
class Made:
    """One schedule to be stored, and how its processes behave."""

    values: dict[str, Any]
    behaviour: Behaviour
    broken: bool = False


class Maker:
    """Makes schedules. ``dense`` ones fire every few seconds or minutes, the others every few hours or days; all of them have the
    policies that are ``fixed``."""

    def __init__(self, random: random.Random, *, zone: Zone, dense: bool, fixed: Mapping[str, Any]) -> None:
        self._random, self._zone, self._dense, self._fixed = random, zone, dense, fixed
        self._number = 0

    def schedule(self, now: float, until: float) -> Made:
        """A schedule that is made now, in a world that ends at ``until``."""
        draw, self._number = self._random, self._number + 1
        trigger = self._trigger(now, until)
        values = {
            "id": f"{self._number:012x}",
            "name": f"s{self._number:02d}",
            "created_at": now,
            "updated_at": now,
            **self._action(),
            **trigger,
            **self.policies(),
            **self._chain(),
        }
        broken = draw.random() < 0.05
        if broken:
            values |= {"trigger_type": "cron", "cron_expr": "0 0 * * *", "interval_sec": None, **draw.choice(BROKEN)}
            values["next_fire_at"] = now + draw.uniform(0, 3600)
        else:
            values["next_fire_at"] = self.armed(values, now)
        return Made(values, self._behaviour(values), broken)

    def first(self, values: Mapping[str, Any], now: float) -> float | None:
        """The first instant, as creating or enabling a schedule stores it."""
        return self.first_of(values, now, self._zone)

    def armed(self, values: Mapping[str, Any], now: float) -> float | None:
        """The first instant, or none yet: lionagi leaves it to the scheduler, except where it is the trigger itself."""
        first = self.first(values, now)
        return first if values["trigger_type"] == "at" or self._random.random() < 0.8 else None

    @staticmethod
    def first_of(values: Mapping[str, Any], now: float, zone: Zone) -> float | None:
        """The first instant of a schedule by its column values."""
        known = ("trigger_type", "action_kind", "cron_expr", "interval_sec", "resolved_timezone", "next_fire_at", "created_at")
        record = ScheduleRecord(values["id"], values["name"], True, **{name: values.get(name) for name in known})
        return first_fire(record, now, zone)

    def trigger(self, now: float, until: float) -> dict[str, Any]:
        """Another trigger, for an edit."""
        return self._trigger(now, until)

    def policies(self) -> dict[str, Any]:
        """Overlap, missed fires, caps, budgets and rate."""
        draw = self._random
        window = draw.choice((600, 3600)) if self._dense else draw.choice((21_600, 86_400))
        return {
            "overlap_policy": draw.choice(("skip", "allow")),
            "missed_fire_policy": draw.choice(("skip", "run_once")),
            "max_runs": draw.choice((None, None, None, 1, 3, 20)),
            "budget_usd": draw.choice((None, None, None, 2.0)),
            "budget_tokens": draw.choice((None, None, None, 4000)),
            "rate_limit": draw.choice((None, None, {"max_fires": draw.choice((1, 2, 5)), "window_sec": window})),
            **self._fixed,
        }

    def _trigger(self, now: float, until: float) -> dict[str, Any]:
        draw = self._random
        bare: dict[str, Any] = {"cron_expr": None, "interval_sec": None, "resolved_timezone": None, "next_fire_at": None}
        match draw.choices(("cron", "interval", "at"), (6, 3, 1))[0]:
            case "cron":
                expressions = (
                    (DENSE if draw.random() < 0.9 else RARE) if self._dense else (RARE if draw.random() < 0.9 else FREQUENT)
                )
                return {
                    **bare,
                    "trigger_type": "cron",
                    "cron_expr": draw.choice(expressions),
                    "resolved_timezone": draw.choice(ZONES),
                }
            case "interval":
                lengths = (5, 20, 60, 90, 600) if self._dense else (5400, 20_000, 40_000, 86_400, 90_000, 604_800)
                return {**bare, "trigger_type": "interval", "interval_sec": draw.choice(lengths)}
        return {**bare, "trigger_type": "at", "next_fire_at": round(draw.uniform(now + 1, until), 3)}

    def _action(self) -> dict[str, Any]:
        draw = self._random
        kind = draw.choices(("command", "agent", "flow_yaml"), (6, 4, 1))[0]
        values: dict[str, Any] = {"action_kind": kind, "action_cwd": "/" if draw.random() < 0.95 else "/no/such/place"}
        match kind:
            case "command":
                values["action_command"] = "true" if draw.random() < 0.95 else "forbidden"
            case "agent":
                values |= {"action_model": "model", "action_prompt": "do it at {{fired_at}}"}
            case "flow_yaml":
                values["action_flow_yaml"] = "steps: []\n"
        return values

    def _chain(self) -> dict[str, Any]:
        draw, step = self._random, {"kind": "command", "action_command": "true"}
        chains: tuple[dict[str, Any], ...] = (
            {},
            {},
            {},
            {"on_success": {**step, "on_success": None}},
            {"on_fail": {**step, "on_fail": None, "on_success": None}},
            {"on_success": {**step, "on_success": {**step, "on_success": None}, "on_fail": None}},
            {"on_fail": {"model": "other"}},
            {"on_success": {"kind": "command", "action_command": "forbidden", "on_fail": None}},
        )
        return dict(draw.choice(chains))

    def _behaviour(self, values: Mapping[str, Any]) -> Behaviour:
        draw = self._random
        recording = 0.6 if values["action_kind"] == "agent" else 0.0
        lengths = (
            ((0.1, 3), (1, 30), (30, 400), (500, 1500)) if self._dense else ((1, 60), (60, 900), (600, 7000), (4000, 12_000))
        )
        shortest, longest = draw.choices(lengths, (5, 4, 2, 1))[0]
        return Behaviour(shortest, longest, failing=draw.choice((0.0, 0.2, 0.8)), recording=recording)


def _run(random: random.Random) -> RunScript:
    status = random.choice(("completed", "completed", "completed", "failed", "completed_empty", "cancelled", "timed_out", None))
    usd = random.choice((None, 0.1, 0.5))
    return RunScript(status, usd, random.choice((0, 300, 900)))

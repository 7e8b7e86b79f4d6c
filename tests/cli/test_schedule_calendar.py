"""Recorded faults of other programs' calendars, tried through the command line and through rows of another writer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.cli.one_home import Cli

GROUPS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "data" / "cron-cases.json").read_text(encoding="utf-8")
)["groups"]
CASES = [case for name, cases in GROUPS.items() if name != "year_exhausted" for case in cases]
REFUSED = tuple(dict.fromkeys(case["expr"] for case in CASES if case["want"].startswith(("refuse:", "refuse at entry"))))
ODD = {"* * * * * *", "0 0 1W * *", "0 12 * * * 2027", "0 6 * *", "60 * * * *", "*/0 * * * *", "0 24 * * *", "0 0 * * 5L"}
"""Refused as well, for reasons that the cases leave open."""

Query = Callable[..., Any]


def cron(cli: Cli, name: str, expression: str, zone: str = "UTC") -> tuple[int, str, str]:
    return cli("schedules", "create", "command", name, "--cron", expression, "--timezone", zone, "--", "echo")


def put(cli: Cli, sql: str, *values: object) -> None:
    with sqlite3.connect(cli.home / "state.db") as connection:
        connection.execute(sql, values)


def is_refused(case: dict[str, Any]) -> bool:
    aliases = ("@reboot", "@every 5m", "０ 9 * * *")
    return case["expr"] in REFUSED or case["expr"] in ODD or case["expr"] in aliases


def test_what_can_never_be_meant_is_refused_and_stores_nothing(own: Cli, query: Query) -> None:
    for case in filter(is_refused, CASES):
        code, out, err = cron(own, "x", case["expr"], case["tz"])
        assert (code, out) == (2, ""), case["expr"]
        assert err.startswith("studio-tui: trigger.expression: "), err
        assert err.count("\n") == 1
    assert query(own.home / "state.db", "SELECT count(*) FROM schedules") == [(0,)]


def test_what_is_accepted_is_previewed_as_it_is_stored_and_as_it_was_recorded(own: Cli) -> None:
    deliberate = {("30 1 * * *", "America/New_York"), ("30 2 * * *", "Europe/Berlin")}  # once in the repeated hour
    accepted = [case for case in CASES if not is_refused(case) and len(case["expr"].split()) < 7]
    for number, case in enumerate(accepted):
        name, zone = f"n{number}", ZoneInfo(case["tz"])
        when = ("--cron", case["expr"], "--timezone", case["tz"], "--json")
        made = json.loads(own("schedules", "create", "command", name, *when, "--", "echo")[1])
        seen = datetime.fromtimestamp(made["updated_at"], UTC).isoformat()
        (first,) = own.json("schedules", "next", name, "-n", "1", "--after", seen)["fires"]
        assert first["at"] == made["next_fire_at"], case["expr"]
        recorded = [at for at in case["croniter7_next"] if "Error" not in at]
        if (case["expr"], case["tz"]) in deliberate or case["expr"] == " @daily ":
            continue
        after = datetime.fromisoformat(case["now"]).replace(tzinfo=zone).isoformat()
        fires = own.json("schedules", "next", name, "-n", str(len(recorded)), "--after", after)["fires"]
        assert [datetime.fromtimestamp(fire["at"], zone).isoformat() for fire in fires] == recorded, case["expr"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 1-7 * 1", ("either day matches", "1#1")),
        ("0 0 29 2 1", ("either day matches",)),
        ("*/30 * * * * *", ("more than once a minute", "the sixth field is seconds")),
        ("0 0 12 * * *", ("the sixth field is seconds", "minute 0, hour 0, day of month 12")),
        ("*/90 * * * *", ("larger than the field", "interval trigger")),
        ("*/7 * * * *", ("begins anew each hour", "after minute 56")),
        ("0 0 29 2 *", ("years pass",)),
    ],
)
def test_what_means_something_else_than_it_seems_is_said_when_it_is_stored(
    own: Cli, expression: str, words: tuple[str, ...]
) -> None:
    code, _, err = cron(own, "x", expression)
    assert code == 0
    assert all(part in err for part in words), err


def test_a_date_that_is_a_year_away_is_pointed_out(own: Cli) -> None:
    day = datetime.now(UTC) + timedelta(days=200)
    day = day.replace(day=min(day.day, 28))  # a 29th of February is further away
    assert "days away" in cron(own, "x", f"0 {day.hour} {day.day} {day.month} *")[2]


def test_a_broken_row_of_another_writer_harms_only_itself(own: Cli) -> None:
    for name in ("good", "bad"):
        assert cron(own, name, "0 9 * * 1")[0] == 0
    for expression in ("0 0 31 2 *", "", "   ", "@reboot", "60 * * * *", "0 6 * *"):
        put(own, "UPDATE schedules SET cron_expr = ? WHERE name = 'bad'", expression)
        bad, good = sorted(own.json("schedules", "list")["items"], key=lambda row: str(row["name"]))
        assert (bad["state"], good["state"]) == ("BROKEN", "ON")
        assert bad["problems"][0].startswith("cron_expr: ")
        assert own("schedules", "next", "bad")[0] == 2
        assert own("schedules", "enable", "bad")[0] == 2


def test_a_year_that_is_over_is_finished_and_cannot_be_turned_on(own: Cli) -> None:
    assert cron(own, "x", "0 9 1 12 * 0 2020")[0] == 2
    assert cron(own, "x", "0 9 1 12 * 0 2090")[0] == 0
    put(own, "UPDATE schedules SET cron_expr = '0 9 1 12 * 0 2020', next_fire_at = NULL, last_fired_at = 1.0, enabled = 0")
    assert own.json("schedules", "show", "x")["state"] == "DONE"
    assert "nothing more will fire" in own("schedules", "next", "x")[1]
    assert own("schedules", "enable", "x")[0] == 4


def test_turning_on_again_counts_forward_and_an_edit_of_something_else_moves_nothing(own: Cli, query: Query) -> None:
    assert cron(own, "x", "*/5 * * * *")[0] == 0
    put(own, "UPDATE schedules SET next_fire_at = 1000.0")
    own("schedules", "update", "x", "--description", "still overdue", "--name", "y")
    assert query(own.home / "state.db", "SELECT next_fire_at, name FROM schedules") == [(1000.0, "y")]
    own("schedules", "disable", "y")
    enabled = own.json("schedules", "enable", "y")
    assert 0 < enabled["next_fire_at"] - enabled["updated_at"] <= 300


def test_changing_one_schedule_leaves_every_other_row_as_it_is(own: Cli, query: Query) -> None:
    for name in "abcde":
        assert own("schedules", "create", "command", name, "--every", "1h", "--", "echo")[0] == 0
    put(own, "UPDATE schedules SET last_fired_at = 5.0, next_fire_at = 3605.0")
    rows = "SELECT * FROM schedules WHERE name IN ('a', 'd', 'e') ORDER BY name"
    before = query(own.home / "state.db", rows)
    own("schedules", "create", "command", "f", "--every", "1h", "--", "echo")
    own("schedules", "update", "b", "--name", "g", "--every", "2h")
    own("schedules", "delete", "c", "--yes")
    assert query(own.home / "state.db", rows) == before
    names = query(own.home / "state.db", "SELECT name FROM schedules ORDER BY name")
    assert [name for (name,) in names] == ["a", "d", "e", "f", "g"]

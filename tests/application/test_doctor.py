"""The doctor: one line each, right about what is right and wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from studio_tui.application import doctor_checks as check
from studio_tui.application.doctor import DoctorProbes, DoctorService
from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import HostRecord, StoreCondition
from studio_tui.application.ports.commands import Transport
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import Zone
from tests.application.records import BERLIN
from tests.fakes.ports import NOW, FakeHost, FakeStore


async def _answer(value: Any) -> Any:
    return value


PROBES = DoctorProbes(
    dialect=lambda: "sqlite",
    database_version=lambda: _answer("3.51.3"),
    journal_mode=lambda: _answer("wal"),
    schema_problems=lambda: _answer(()),
    executable=lambda name: f"/usr/bin/{name}",
    versions=lambda: {"croniter": "7.0.0", "textual": "8.2.8"},
    allowed_commands=lambda: ("echo", "date"),
    roots=lambda: {"agents": ("/home/a/agents", True), "shows": ("/home/a/shows", False)},
    transport=lambda: Transport(("carry", "{deliver_to}")),
    terminal=lambda: {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TMUX": None},
)


def _doctor(condition: StoreCondition | None = None, **probes: Any) -> DoctorService:
    store = FakeStore() if condition is None else FakeStore(now=condition)
    return DoctorService(store=store, host=FakeHost(), zone=BERLIN, probes=replace(PROBES, **probes))


async def test_a_sound_installation_has_nothing_to_mend() -> None:
    checks = await _doctor().checks()
    assert [(line.name, line.outcome) for line in checks] == [
        ("store", "ok"),
        ("database", "ok"),
        ("journal", "ok"),
        ("schema", "ok"),
        ("scheduler", "ok"),
        ("li", "ok"),
        ("croniter", "ok"),
        ("textual", "ok"),
        ("zone", "ok"),
        ("commands", "ok"),
        ("outbox", "ok"),
        ("agents", "ok"),
        ("shows", "skip"),
        ("terminal", "ok"),
    ]
    assert not any(line.fix for line in checks)


@pytest.mark.parametrize("mode", ["missing", "unavailable"])
async def test_a_store_that_is_not_open_is_not_asked(mode: Any) -> None:
    async def asked() -> None:
        raise AssertionError("the store was asked")

    doctor = _doctor(StoreCondition(mode, "state.db", "not a database"), database_version=asked, journal_mode=asked)
    lines = {line.name: line for line in await doctor.checks()}
    assert lines["store"].outcome == ("warn" if mode == "missing" else "fail")
    assert [lines[name].outcome for name in ("database", "journal", "schema")] == ["skip"] * 3


async def test_a_probe_that_breaks_is_a_fault_with_an_id() -> None:
    def broken() -> Any:
        raise RuntimeError("probe")

    with pytest.raises(StateUnavailable):
        await _doctor(roots=broken).checks()


@pytest.mark.parametrize(
    ("version", "faulty"),
    [
        ("3.6.23", False),
        ("3.7.0", True),
        ("3.40.1", True),
        ("3.44.5", True),
        ("3.44.6", False),
        ("3.45.0", True),
        ("3.50.6", True),
        ("3.50.7", False),
        ("3.51.2", True),
        ("3.51.3", False),
        ("3.52", False),
        ("4.0.0", False),
        ("unknown", False),
    ],
)
def test_which_sqlite_has_the_reset_fault(version: str, faulty: bool) -> None:
    assert check.has_reset_fault(version) is faulty
    line = check.database("sqlite", version)
    assert line.outcome == ("warn" if faulty else "ok")
    assert bool(line.fix) is faulty


def test_the_reset_fault_is_sqlites_alone() -> None:
    assert check.database("postgresql", "15.4").outcome == "ok"
    assert check.database("sqlite", None).outcome == "warn"
    assert check.journal("postgresql", None).outcome == "skip"


def test_a_store_that_is_only_read_says_why() -> None:
    line = check.store(StoreCondition("read_only", "state.db", "made by a newer version", "9"))
    assert line.outcome == "warn"
    assert "made by a newer version" in line.detail
    assert "version 9" in line.detail


def test_a_log_that_is_not_wal_and_a_schema_that_differs_are_named() -> None:
    assert check.journal("sqlite", "delete").outcome == "warn"
    line = check.schema(("no table a", "no table b", "no table c", "no table d", "no table e"))
    assert line.outcome == "warn"
    assert line.detail.endswith("and 2 more")


@pytest.mark.parametrize(
    ("state", "held", "outcome"),
    [
        ("hosting", False, "ok"),
        ("standby", True, "ok"),
        ("stalled", False, "fail"),
        ("undecided", False, "warn"),
        ("off", False, "warn"),
        ("off", True, "ok"),
    ],
)
def test_whether_anybody_hosts(state: str, held: bool, outcome: str) -> None:
    holder = HostRecord(ProcessIdentity(7, None, None, None), "console", NOW, NOW) if held else None
    line = check.host(FakeHost(state=state, holder=holder, reason="so"))
    assert line.outcome == outcome
    assert bool(line.fix) == (outcome == "warn")


def test_what_is_missing_is_named_with_its_mending() -> None:
    assert check.li(None).outcome == "warn"
    assert check.li(None).fix
    assert [line.outcome for line in check.packages({"croniter": None, "asyncpg": None})] == ["fail", "warn"]
    assert check.zone(Zone("UTC", "fallback:utc")).outcome == "warn"
    assert check.allow_list(()).outcome == "warn"
    assert check.roots({"agents": ("/a", False)})[0].outcome == "skip"


@pytest.mark.parametrize(
    ("facts", "outcome", "mend"),
    [
        ({"TERM": None}, "warn", True),
        ({"TERM": "dumb"}, "warn", True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/tmux", "COLORTERM": None}, "ok", True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/tmux", "COLORTERM": "truecolor"}, "ok", False),
        ({"TERM": "xterm"}, "ok", False),
    ],
)
def test_what_the_terminal_says_of_itself(facts: dict[str, str | None], outcome: str, mend: bool) -> None:
    (line,) = check.terminal(facts)
    assert (line.outcome, bool(line.fix)) == (outcome, mend)


async def test_without_a_command_for_messages_the_doctor_says_that_they_wait() -> None:
    checks = await _doctor(transport=lambda: Transport(problem="no key in /home/a/settings.yaml")).checks()
    (line,) = (line for line in checks if line.name == "outbox")
    assert (line.outcome, line.detail) == (
        "skip",
        "messages wait and none is attempted: no key in /home/a/settings.yaml",
    )

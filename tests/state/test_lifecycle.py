"""Status writes: row, reason and history together, terminal for good, and a lost race that writes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import insert

from studio_tui.application.errors import Conflict
from studio_tui.application.ports import ActProvenance
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES
from studio_tui.state.db import StateDB
from studio_tui.state.definition_history import definition_change, provenance
from studio_tui.state.lifecycle import CREATED, creation, record, write_status
from studio_tui.state.schema import dispatch_outbox, invocations, progressions, sessions
from tests.state.raw import raw_row, raw_rows

NOW = 1_796_000_100.5
START = 1_796_000_000.0


async def put_run(db: StateDB, **values: object) -> None:
    row = {"id": "r", "created_at": START, "updated_at": START, "progression_id": "p", "status": "running", **values}

    async def work(connection: Any) -> None:
        await connection.execute(insert(progressions).values(id="p", created_at=START))
        await connection.execute(insert(sessions).values(row))

    await db.write(work)


async def end(db: StateDB, status: str = "failed", **options: Any) -> bool:
    arguments: dict[str, Any] = {
        "reason_code": "run.failed.exception",
        "summary": "boom",
        "evidence": [{"kind": "session", "id": "r"}],
        "source": "admin",
        "actor": "op",
        "now": NOW,
        **options,
    }
    return await db.write(lambda connection: write_status(connection, "session", "r", status, **arguments))


async def run_row(db: StateDB) -> dict[str, Any]:
    return await raw_row(db, "sessions")


async def history(db: StateDB) -> list[dict[str, Any]]:
    return await raw_rows(db, "status_transitions")


async def test_row_reason_and_history_change_together(db: StateDB) -> None:
    await put_run(db, started_at=START)
    assert await end(db, metadata={"why": 1}, extra={"current_phase": None})
    row = await run_row(db)
    assert (row["status"], row["status_reason_code"], row["status_reason_summary"]) == ("failed", "run.failed.exception", "boom")
    assert row["status_evidence_refs"] == '[{"kind": "session", "id": "r"}]'
    (line,) = await history(db)
    assert line.pop("id")
    assert line == {
        "entity_type": "session",
        "entity_id": "r",
        "previous_status": "running",
        "status": "failed",
        "reason_code": "run.failed.exception",
        "reason_summary": "boom",
        "evidence_refs": '[{"kind": "session", "id": "r"}]',
        "source": "admin",
        "actor": "op",
        "created_at": NOW,
        "metadata": '{"why": 1}',
    }
    assert row["updated_at"] == NOW


async def test_a_terminal_status_stays(db: StateDB) -> None:
    await put_run(db, status="completed", ended_at=START + 1)
    with pytest.raises(Conflict, match="ended already"):
        await end(db)
    assert await history(db) == []
    assert (await run_row(db))["updated_at"] == START
    assert await end(db, "completed", reason_code="run.completed.ok", summary="again")
    assert (await run_row(db))["status_reason_summary"] == "again"
    assert (await run_row(db))["ended_at"] == START + 1


@pytest.mark.parametrize(
    "options",
    [{"expected": {"completed"}}, {"expected_updated_at": START + 1e-6}, {"expected": {"running"}, "expected_updated_at": NOW}],
)
async def test_a_miss_writes_nothing(db: StateDB, options: dict[str, Any]) -> None:
    await put_run(db)
    assert not await end(db, **options)
    assert (await run_row(db))["status"] == "running"
    assert await history(db) == []


async def test_a_hit_compares_the_exact_instant(db: StateDB) -> None:
    await put_run(db)
    assert await end(db, expected={"running"}, expected_updated_at=START)


async def test_what_is_gone_is_a_miss(db: StateDB) -> None:
    assert not await end(db)


async def test_a_missing_status_is_left_as_what_it_is(db: StateDB) -> None:
    await put_run(db, status=None)
    assert await end(db)
    assert (await history(db))[0]["previous_status"] is None


@pytest.mark.parametrize(
    ("values", "ended", "length"),
    [
        ({"started_at": START}, NOW, 100_500.0),
        ({"started_at": None}, NOW, None),
        ({"started_at": START, "ended_at_is_approximate": 1}, NOW, 100_500.0),
        ({"started_at": START, "ended_at": START + 5, "ended_at_is_approximate": 1}, NOW, 100_500.0),
        ({"started_at": START, "ended_at": START + 5}, START + 5, 5000.0),
        ({"started_at": NOW + 9}, NOW, 0.0),
        ({"started_at": START, "ended_at": START + 5, "duration_ms": 5000.0}, START + 5, 5000.0),
    ],
)
async def test_a_run_that_ends_has_an_end(db: StateDB, values: dict[str, object], ended: float, length: float | None) -> None:
    await put_run(db, **values)
    assert await end(db)
    row = await run_row(db)
    assert (row["ended_at"], row["duration_ms"]) == (ended, length)


@pytest.mark.parametrize(
    ("status", "options"),
    [
        ("finished", {}),
        ("failed", {"reason_code": "run.failed.nonsense"}),
        ("failed", {"reason_code": "schedule.skipped.overlap"}),
        ("failed", {"extra": {"name": "x"}}),
    ],
)
async def test_unknown_words_are_refused(db: StateDB, status: str, options: dict[str, Any]) -> None:
    await put_run(db)
    with pytest.raises(ValueError, match=r"knows no status|is no reason|not to be written"):
        await end(db, status, **options)
    assert await history(db) == []


async def test_the_outbox_has_no_reason_columns(db: StateDB) -> None:
    row = {"id": "d", "kind": "k", "deliver_to": "x", "payload": {}, "next_attempt_at": 1.0, "created_at": 1.0}
    await db.execute(insert(dispatch_outbox), row)
    done = await db.write(
        lambda connection: write_status(
            connection,
            "dispatch",
            "d",
            "delivering",
            reason_code="dispatch.delivering.attempt",
            summary="",
            evidence=(),
            source="scheduler",
            actor=None,
            now=NOW,
            extra={"attempt": 1},
        )
    )
    assert done
    assert (await db.fetch_one("SELECT status, attempt, updated_at FROM dispatch_outbox")) == {
        "status": "delivering",
        "attempt": 1,
        "updated_at": NOW,
    }


async def test_lines_of_creation(db: StateDB) -> None:
    lines = [creation(entity, f"{entity}-{status}", status, actor="create_it", now=NOW) for entity, status in CREATED]
    await db.write(lambda connection: record(connection, *lines))
    stored = await history(db)
    assert len(stored) == len(CREATED)
    assert all(line["previous_status"] is None and line["source"] == "system" and line["metadata"] == "{}" for line in stored)
    with pytest.raises(KeyError):
        creation("schedule_run", "x", "completed", actor="a", now=NOW)


def test_every_reason_has_an_owner() -> None:
    prefixes = {prefix for vocabulary in VOCABULARIES.values() for prefix in vocabulary.reason_prefixes}
    assert {code.partition(".")[0] for code in REASON_WORDS} == prefixes


async def test_a_rolled_back_transaction_leaves_neither_row_nor_line(db: StateDB) -> None:
    await db.execute(
        insert(invocations),
        {"id": "i", "skill": "s", "started_at": 1.0, "created_at": 1.0, "updated_at": 1.0, "status": "running"},
    )

    async def work(connection: Any) -> None:
        await write_status(
            connection,
            "invocation",
            "i",
            "completed",
            reason_code="run.completed.ok",
            summary="",
            evidence=(),
            source="executor",
            actor="i",
            now=NOW,
        )
        raise Conflict("x", expected=None, actual=None)

    with pytest.raises(Conflict):
        await db.write(work)
    assert (await db.fetch_one("SELECT status FROM invocations")) == {"status": "running"}
    assert await history(db) == []


# --- definitions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (ActProvenance("cli", "op", "/srv"), ("/srv", "available", "available", "client_resolved", None)),
        (ActProvenance("cli", "op", "relative"), (None, "available", "unavailable", "client_resolved", "cwd_unavailable")),
        (ActProvenance("cli", None, "/srv"), ("/srv", "unavailable", "available", "client_resolved", "resolver_unavailable")),
        (ActProvenance("unavailable"), (None, "unavailable", "unavailable", "unavailable", "not_provided")),
        (ActProvenance("http", "op", "/srv"), ("/srv", "available", "available", "client_reported", None)),
        (ActProvenance("scheduler", "scheduler:max-runs", "/srv"), ("/srv", "available", "available", "system", None)),
        (ActProvenance("scheduler", "scheduler"), (None, "available", "unavailable", "system", "cwd_unavailable")),
    ],
)
def test_provenance(by: ActProvenance, expected: tuple[object, ...]) -> None:
    found = provenance(by)
    assert list(found) == ["origin", "submitting_cwd", "actor_status", "cwd_status", "assurance", "failure_category"]
    assert found.pop("origin") == by.origin
    assert tuple(found.values()) == expected


def test_a_definition_line_needs_a_reason_of_its_status() -> None:
    line = definition_change(
        "s1",
        "n",
        previous="enabled",
        status="disabled",
        reason_code="schedule_definition.disabled.manual",
        summary="noisy",
        by=ActProvenance("cli", "op", "/srv"),
        now=NOW,
        details={"disable_cause": "x"},
    )
    assert json.dumps(line["metadata"]).startswith('{"disable_cause": "x", "schedule_name": "n", "provenance": {"origin": "cli"')
    with pytest.raises(ValueError, match="does not say"):
        definition_change(
            "s1",
            "n",
            previous="enabled",
            status="disabled",
            reason_code="schedule_definition.enabled.observed",
            summary="",
            by=ActProvenance("cli"),
            now=NOW,
        )

"""Teams as an import left them in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.stores.teams import TeamStore
from tests.builders import NOW, a_run, run_sql
from tests.state.ledger_rows import a_team, a_team_message, all_pages


@pytest.fixture
def known(db: StateDB) -> TeamStore:
    return TeamStore(db)


async def test_teams_page_by_page(db: StateDB, known: TeamStore) -> None:
    for number in range(5):
        await a_team(db, id=f"t{number}", updated_at=NOW + number // 2)
    await a_team(
        db, id="t9", name="ä", status="archived", status_reason_code="team.archived.operator", status_reason_summary="idle"
    )

    async def page(key: Any) -> Any:
        return await known.list_teams(before=key, limit=2)

    found = await all_pages(page, lambda team: (team.updated_at, team.team_id), limit=2)
    assert [team.team_id for team in found] == ["t4", "t3", "t2", "t9", "t1", "t0"]
    one = await known.get_team("t9")
    assert one is not None
    assert (one.name, one.status, one.reason_summary, one.members, one.member_count) == (
        "ä",
        "archived",
        "idle",
        ("lead", "critic"),
        2,
    )
    assert await known.get_team("none") is None


async def test_messages_of_a_team_page_by_page(db: StateDB, known: TeamStore) -> None:
    await a_run(db, id="r1")
    team, other = await a_team(db), await a_team(db)
    for number in range(5):
        await a_team_message(db, team, id=f"m{number}", created_at=NOW + number // 2, read_by=["critic"], session_id="r1")
    await a_team_message(db, other)

    async def page(key: Any) -> Any:
        return await known.team_messages(team, before=key, limit=2)

    found = await all_pages(page, lambda message: (message.created_at, message.message_id), limit=2)
    assert [message.message_id for message in found] == ["m4", "m3", "m2", "m1", "m0"]
    assert (found[0].read_by, found[0].session_id, found[0].recipient) == (("critic",), "r1", "all")


@pytest.mark.sqlite_only("a server's columns hold what they are for")
@pytest.mark.parametrize(("stored", "broken"), [("{broken", True), ("{}", True), ("[1]", True), ("NaN", True), ("null", False)])
async def test_broken_lists_hide_no_row(db: StateDB, known: TeamStore, stored: str, broken: bool) -> None:
    team = await a_team(db)
    await a_team_message(db, team)
    await run_sql(db, "UPDATE teams SET members = :s", s=stored)
    await run_sql(db, "UPDATE team_messages SET read_by = :s", s=stored)
    (found,) = await known.list_teams(before=None, limit=5)
    assert (found.members, found.defects) == ((), ("members",) if broken else ())
    (message,) = await known.team_messages(team, before=None, limit=5)
    assert (message.read_by, message.defects) == ((), ("read_by",) if broken else ())


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    assert await TeamStore(db).list_teams(before=None, limit=5) == ()
    assert await TeamStore(db).team_messages("x", before=None, limit=5) == ()

"""Every operation, found by reflection, on a store that fails, a store without rows, and for a record that is not there."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import pytest

from studio_tui.application.contract.operations import operations
from studio_tui.application.errors import NotFound, StateUnavailable, StudioApplicationError
from studio_tui.application.models.common import Page
from tests.application.calls import BY_NAME, call
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.application.paths import APPLICABLE, ASKS_NOBODY, PATHS
from tests.fakes.troubled import in_trouble

_LEAK: Final = "SELECT secret FROM sessions -- /srv/home/state.db op:S3cret@host"


def _cases(path: str, *, without: tuple[str, ...] = ()) -> list[Any]:
    names = [name for name, paths in APPLICABLE.items() if path in paths and name not in without]
    return [pytest.param(name, id=name, marks=covers(name, path)) for name in names]


def test_every_operation_says_which_ways_it_may_fail() -> None:
    assert sorted(APPLICABLE) == [operation.name for operation in operations()]
    assert {path for paths in APPLICABLE.values() for path in paths} == set(PATHS)


@pytest.mark.parametrize("name", _cases("store_failure"))
async def test_a_store_that_cannot_answer_is_said_as_such(name: str) -> None:
    operation = BY_NAME[name]
    with pytest.raises(StateUnavailable) as caught:
        await call(in_trouble(operation.owner, StateUnavailable("the store is locked", retryable=True)), operation)
    assert (caught.value.reason, caught.value.retryable) == ("the store is locked", True)


@pytest.mark.parametrize("name", [name for name in APPLICABLE if name not in ASKS_NOBODY])
async def test_no_other_exception_crosses_the_boundary_and_none_of_its_text(name: str, caplog: pytest.LogCaptureFixture) -> None:
    operation = BY_NAME[name]
    with caplog.at_level(logging.CRITICAL), pytest.raises(StudioApplicationError) as caught:
        await call(in_trouble(operation.owner, RuntimeError(_LEAK)), operation)
    said = f"{caught.value} {vars(caught.value)}"
    assert not [word for word in ("SELECT", "secret", "S3cret", "/srv") if word in said], said


@pytest.mark.parametrize("name", ASKS_NOBODY)
async def test_what_asks_nobody_answers_whatever_the_store_does(name: str) -> None:
    operation = BY_NAME[name]
    if name not in ("host.status", "store.status"):  # those two read a state, which a port that only fails does not have
        await call(in_trouble(operation.owner, StateUnavailable("the store is locked", retryable=True)), operation)


_NEEDS_A_RUN: Final = ("evidence.follow_signals", "evidence.list_evidence", "runs.list_messages", "teams.list_messages")
"""These are empty for a record that is there; see the tests beside this one."""


@pytest.mark.parametrize("name", _cases("empty", without=_NEEDS_A_RUN))
async def test_a_store_without_rows_answers_with_nothing(name: str, home: OpenHome) -> None:
    operation = BY_NAME[name]
    _require_empty(await call(getattr(home.studio, operation.service), operation))


@pytest.mark.parametrize("name", [name for name, paths in APPLICABLE.items() if "empty" in paths and name not in _NEEDS_A_RUN])
async def test_where_there_is_no_store_reading_is_empty_and_makes_none(name: str, tmp_path: Path) -> None:
    operation = BY_NAME[name]
    nowhere = OpenHome(tmp_path / "none")
    await nowhere.open()
    try:
        if _writes(name):
            with pytest.raises(StateUnavailable):
                await call(getattr(nowhere.studio, operation.service), operation)
        else:
            _require_empty(await call(getattr(nowhere.studio, operation.service), operation))
    finally:
        await nowhere.close()
    assert not list(tmp_path.glob("none/*.db"))


@pytest.mark.parametrize("name", _cases("missing"))
async def test_a_record_that_is_not_there_is_not_found(name: str, home: OpenHome) -> None:
    operation = BY_NAME[name]
    with pytest.raises(NotFound) as caught:
        await call(getattr(home.studio, operation.service), operation)
    assert str(home.folder) not in str(caught.value)
    assert "SELECT" not in str(caught.value)
    assert await home.db.fetch_all("SELECT id FROM status_transitions UNION SELECT id FROM admin_events") == []


def _writes(name: str) -> bool:
    return name in ("attention.reopen", "outbox.purge_older", "projects.assign_runs", "tags.remove_tag")


def _require_empty(result: Any) -> None:
    """Nothing is told of any record: lists are empty, sums zero or unknown."""
    if isinstance(result, Page):
        assert result.items == ()
        assert not result.has_next
    elif isinstance(result, tuple):
        assert all(not getattr(item, "tags", None) and not getattr(item, "disposition", None) for item in result)
    else:
        values = result.model_dump() if hasattr(result, "model_dump") else {"value": result}
        counts = ("total", "running", "reported", "unreported", "entries", "assigned", "unassigned_count", "value", "broken")
        assert not [name for name in counts if values.get(name)], values


async def test_on_a_store_that_cannot_be_read_every_operation_ends_in_the_taxonomy_or_does_without_it(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4_000)
    before = (tmp_path / "state.db").read_bytes()
    damaged = OpenHome(tmp_path)
    await damaged.open()
    refused: dict[str, str] = {}
    try:
        for operation in operations():
            try:
                await call(getattr(damaged.studio, operation.service), operation)
            except StateUnavailable as error:
                refused[operation.name] = str(error)
            except StudioApplicationError:
                continue
    finally:
        await damaged.close()
    assert not {"doctor.checks", "definitions.list_definitions", *ASKS_NOBODY} & set(refused)
    leaks = ("SELECT", "sqlite3.", "an unexpected fault")
    assert not [(name, said) for name, said in refused.items() for word in leaks if word in said]
    assert len(refused) > 80
    assert (tmp_path / "state.db").read_bytes() == before

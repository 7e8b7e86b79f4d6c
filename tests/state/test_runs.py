"""Lists of runs: order, pages, conditions, and rows that hold what they should not."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_tui.application.ports import RunFilter
from studio_tui.state.db import StateDB
from studio_tui.state.queries import runs as queries
from studio_tui.state.schema import run_tags
from studio_tui.state.stores.runs import RunStore
from tests.builders import (
    NOW,
    a_branch,
    a_firing,
    a_run,
    a_schedule,
    a_transition,
    an_invocation,
    messages_of,
    put,
    run_sql,
    runs_at,
)
from tests.state.run_pages import EVERYTHING, listed, walked

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def runs(db: StateDB) -> RunStore:
    return RunStore(db)


# --- order and pages --------------------------------------------------------------------------------------------------


async def test_newest_activity_comes_first_and_equal_times_by_id(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {"a": NOW, "b": NOW + 5, "c": NOW, "d": NOW - 5})
    assert await listed(runs) == ["b", "c", "a", "d"]


async def test_pages_meet_in_both_directions(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {f"r{number}": NOW + number // 3 for number in range(10)})
    everything = await listed(runs)
    first = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=4)
    assert ([run.run_id for run in first.runs], first.more) == (everything[:4], True)
    last = first.runs[-1]
    second = await runs.list_runs(EVERYTHING, after=(last.updated_at or 0.0, last.run_id), backwards=False, limit=4)
    assert [run.run_id for run in second.runs] == everything[4:8]
    top = second.runs[0]
    back = await runs.list_runs(EVERYTHING, after=(top.updated_at or 0.0, top.run_id), backwards=True, limit=3)
    assert ([run.run_id for run in back.runs], back.more) == (everything[1:4], True)
    oldest = await runs.list_runs(EVERYTHING, after=None, backwards=True, limit=4)
    assert ([run.run_id for run in oldest.runs], oldest.more) == (everything[6:], True)


async def test_a_last_page_that_is_full_says_that_nothing_follows(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {"a": NOW, "b": NOW})
    page = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=2)
    assert (len(page.runs), page.more) == (2, False)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    times=st.lists(st.sampled_from([NOW, NOW + 0.1, NOW + 0.2, NOW + 1e6]), min_size=1, max_size=25),
    statuses=st.sampled_from([frozenset[str | None](), frozenset({"completed"}), frozenset({"completed", None, "failed"})]),
    project=st.sampled_from([None, "web"]),
    tags=st.sampled_from([(), ("t",)]),
    limit=st.integers(1, 7),
    backwards=st.booleans(),
)
async def test_no_row_comes_twice_and_none_is_skipped(
    db: StateDB,
    runs: RunStore,
    times: list[float],
    statuses: frozenset[str | None],
    project: str | None,
    tags: tuple[str, ...],
    limit: int,
    backwards: bool,
) -> None:
    await run_sql(db, "DELETE FROM sessions")
    ids = {uuid.uuid4().hex: time for time in times}
    await runs_at(db, ids, project="web")
    await put(db, run_tags, [{"session_id": run_id, "tag": "t", "created_at": NOW} for run_id in ids])
    where = RunFilter(status=statuses, project=project, tags=tags)
    wanted = sorted(ids, key=lambda run_id: (ids[run_id], run_id), reverse=True)
    assert await walked(runs, where, limit=limit, backwards=backwards) == wanted


async def test_runs_that_arrive_while_paging_are_not_mixed_in(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {f"r{number}": NOW + number for number in range(6)})
    first = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=3)
    await runs_at(db, {"new": NOW + 100})
    key = (first.runs[-1].updated_at or 0.0, first.runs[-1].run_id)
    second = await runs.list_runs(EVERYTHING, after=key, backwards=False, limit=3)
    assert [run.run_id for run in second.runs] == ["r2", "r1", "r0"]
    top = first.runs[0]
    assert await runs.count_newer(EVERYTHING, (top.updated_at or 0.0, top.run_id), limit=10) == 1


async def test_newer_runs_are_counted_up_to_a_limit_and_under_the_same_conditions(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {f"r{number}": NOW + number for number in range(8)}, project="web")
    await runs_at(db, {f"s{number}": NOW + number for number in range(3)}, status="failed")
    assert await runs.count_newer(EVERYTHING, (NOW, "r0"), limit=100) == 10
    assert await runs.count_newer(EVERYTHING, (NOW, "r0"), limit=4) == 4
    assert await runs.count_newer(RunFilter(project="web"), (NOW, "r0"), limit=100) == 7
    assert await runs.count_newer(RunFilter(status=frozenset({"failed"})), (NOW, "s0"), limit=100) == 2
    assert await runs.count_newer(RunFilter(status=frozenset({"failed", None})), (NOW, "s0"), limit=100) == 2
    assert await runs.count_newer(RunFilter(tags=("none",)), (NOW, "s0"), limit=100) == 0


# --- conditions -------------------------------------------------------------------------------------------------------


async def test_each_condition_narrows(db: StateDB, runs: RunStore) -> None:
    await a_run(db, id="plain", updated_at=NOW)
    await a_run(db, id="failed", status="failed", updated_at=NOW + 1, project="web")
    await a_run(db, id="null", status=None, invocation_kind=None, updated_at=NOW + 2, project="api", tags=("a",))
    await a_run(db, id="flow", invocation_kind="flow", updated_at=NOW + 3, project="web", tags=("a", "b", "c"))
    await a_run(db, id="play", playbook_name="Nightly Sweep", updated_at=NOW + 4)
    cases = {
        RunFilter(status=frozenset({"failed"})): ["failed"],
        RunFilter(status=frozenset({None})): ["null"],
        RunFilter(status=frozenset({"completed", None})): ["play", "flow", "null", "plain"],
        RunFilter(status=frozenset({"completed", "failed"})): ["play", "flow", "failed", "plain"],
        RunFilter(status=frozenset({"no such"})): [],
        RunFilter(kinds=frozenset({"flow"})): ["flow"],
        RunFilter(kinds=frozenset({None, "flow"})): ["flow", "null"],
        RunFilter(project="web"): ["flow", "failed"],
        RunFilter(project="web", status=frozenset({"failed"})): ["failed"],
        RunFilter(project="web", status=frozenset({"failed", "completed", None})): ["flow", "failed"],
        RunFilter(project_is_null=True): ["play", "plain"],
        RunFilter(project="nobody's"): [],
        RunFilter(tags=("a",)): ["flow", "null"],
        RunFilter(tags=("a", "b")): ["flow"],
        RunFilter(tags=("c", "a", "b")): ["flow"],
        RunFilter(tags=("c", "a", "d")): [],
        RunFilter(tags=("b", "a"), project="api"): [],
        RunFilter(tags=("a",), status=frozenset({None}), kinds=frozenset({None})): ["null"],
        RunFilter(playbook="sweep"): ["play"],
        RunFilter(playbook="%"): [],
    }
    for where, wanted in cases.items():
        assert await listed(runs, where) == wanted, where
        assert await walked(runs, where, limit=1) == wanted, where
        assert await walked(runs, where, limit=1, backwards=True) == wanted, where


@pytest.mark.parametrize(("few", "near"), [(0, 1000), (1000, 1000), (0, 3)])
async def test_sorting_a_few_and_walking_many_give_the_same_pages(
    db: StateDB, runs: RunStore, monkeypatch: pytest.MonkeyPatch, few: int, near: int
) -> None:
    monkeypatch.setattr(queries, "FEW", few)
    monkeypatch.setattr(queries, "NEAR", near)
    queries.page.cache_clear()
    times = {f"r{number:02}": NOW + number % 5 for number in range(30)}
    await runs_at(db, {name: time for name, time in times.items() if int(name[1:]) % 2}, project="web")
    await runs_at(db, {name: time for name, time in times.items() if not int(name[1:]) % 2}, project="api")
    await put(db, run_tags, [{"session_id": name, "tag": "t", "created_at": NOW} for name in times if int(name[1:]) % 3 == 0])
    ordered = sorted(times, key=lambda name: (times[name], name), reverse=True)
    web = [name for name in ordered if int(name[1:]) % 2]
    tagged = [name for name in ordered if int(name[1:]) % 3 == 0]
    assert await walked(runs, RunFilter(project="web"), limit=4) == web
    assert await walked(runs, RunFilter(tags=("t",)), limit=4) == tagged
    assert await walked(runs, RunFilter(tags=("t",)), limit=4, backwards=True) == tagged
    assert await walked(runs, RunFilter(tags=("t",), project="web"), limit=2) == [name for name in web if name in tagged]
    for status in (frozenset({"completed"}), frozenset({"completed", "failed"})):
        assert await walked(runs, RunFilter(tags=("t",), status=status), limit=4, backwards=True) == tagged
    queries.page.cache_clear()


async def test_text_is_found_literally_in_every_named_column(db: StateDB, runs: RunStore) -> None:
    nasty = json.loads((DATA / "nasty-strings.json").read_text("utf-8"))
    texts = [text for group in nasty.values() if isinstance(group, list) for text in group if isinstance(text, str) and text]
    texts = [text for text in dict.fromkeys(texts) if len(text) < 500]
    await runs_at(db, {f"x{number:03}": NOW + number for number in range(len(texts))})
    for number, text in enumerate(texts):
        await run_sql(db, "UPDATE sessions SET name = :name WHERE id = :id", name=text, id=f"x{number:03}")
    for number, text in enumerate(texts):
        found = await runs.list_runs(RunFilter(text=text), after=None, backwards=False, limit=200)
        assert f"x{number:03}" in [run.run_id for run in found.runs], text
        if "\0" not in text:
            assert all(text.lower() in (run.name or "").lower() or text in run.run_id for run in found.runs), text


@pytest.mark.parametrize("column", ["name", "user_label", "agent_name", "playbook_name", "show_play_name"])
async def test_case_does_not_matter_and_wildcards_mean_themselves(db: StateDB, runs: RunStore, column: str) -> None:
    await a_run(db, id="one", **{column: "Nightly 100%_done \\ Ärger"})
    await a_run(db, id="two", **{column: "nightly 100 done"})
    for text in ("NIGHTLY 100%_", "0%_DONE", "\\", "ärger", "ÄRGER", "Ärg"):
        assert await listed(runs, RunFilter(text=text)) == ["one"], text
    assert await listed(runs, RunFilter(text="_")) == ["one"]
    assert await listed(runs, RunFilter(text="TWO")) == ["two"]
    assert set(await listed(runs, RunFilter(text="nightly"))) == {"one", "two"}


# --- what a run carries -----------------------------------------------------------------------------------------------


async def test_lists_leave_the_large_columns_out_and_details_have_them(db: StateDB, runs: RunStore) -> None:
    contract = {"expected": [{"id": "report", "path": "report.md"}]}
    verification = {"status": "passed", "missing_required": []}
    metadata = {"pid": 5, "resumed_from": "x", "operations": ["much"] * 50}
    await a_run(
        db,
        id="r",
        artifact_contract_json=contract,
        artifact_verification_json=verification,
        node_metadata=metadata,
        total_cost_usd=0.0,
        ended_at_is_approximate=1,
    )
    (listed_run,) = (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)).runs
    assert (listed_run.contract, listed_run.verification, listed_run.metadata) == (None, None, {})
    (detail,) = await runs.get_runs(["r", "r", "gone"])
    assert (detail.contract, detail.verification) == (contract, verification)
    assert detail.metadata == {"pid": 5, "resumed_from": "x"}
    assert (detail.total_cost_usd, detail.ended_at_is_approximate, detail.input_tokens) == (0.0, True, None)
    assert detail.updated_at == NOW


async def test_a_running_run_says_whether_it_has_messages(db: StateDB, runs: RunStore) -> None:
    ids = await messages_of(db, 2)
    await a_run(db, id="silent", status="running", last_message_at=NOW)
    await a_branch(db, "silent")
    await a_run(db, id="speaks", status="running")
    await a_branch(db, "speaks")
    await a_branch(db, "speaks", message_ids=ids)
    await a_run(db, id="branchless", status="running", message_ids=ids)
    await a_run(db, id="ended", message_ids=ids)
    found = {
        run.run_id: run.has_messages for run in (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=9)).runs
    }
    assert found == {"silent": False, "speaks": True, "branchless": False, "ended": None}


async def test_ids_are_found_by_a_prefix_taken_literally(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, dict.fromkeys(("deadbeef-1", "deadbeef-2", "dead%", "DEAD", "e"), NOW))
    assert await runs.find_run_ids("deadbeef", limit=10) == ("deadbeef-1", "deadbeef-2")
    assert await runs.find_run_ids("deadbeef", limit=1) == ("deadbeef-1",)
    assert await runs.find_run_ids("dead%", limit=10) == ("dead%",)
    assert await runs.find_run_ids("dead_", limit=10) == ()
    assert await runs.approximate_count() == 5


async def test_many_ids_at_once(db: StateDB, runs: RunStore) -> None:
    await runs_at(db, {f"r{number}": NOW for number in range(1500)})
    assert len(await runs.get_runs([f"r{number}" for number in range(2000)])) == 1500


async def test_history_is_the_newest_part_oldest_first(db: StateDB, runs: RunStore) -> None:
    for number, (status, time) in enumerate((("running", 1.0), ("failed", 2.0), ("running", 2.0), ("completed", 3.0))):
        await a_transition(db, "session", "r", status, created_at=NOW + time, id=f"line-{number}")
    await a_transition(db, "play", "r", "merged")
    history = await runs.transitions("session", "r", limit=3)
    assert [entry.status for entry in history] == ["failed", "running", "completed"]
    assert history[0].created_at == NOW + 2


async def test_branches_come_in_the_order_of_their_creation(db: StateDB, runs: RunStore) -> None:
    await a_run(db, id="r")
    for number, (name, time) in enumerate((("late", 5.0), ("early", 1.0), ("same", 1.0))):
        await a_branch(db, "r", id=f"branch-{number}", name=name, created_at=NOW + time)
    assert [branch.name for branch in await runs.branches("r")] == ["early", "same", "late"]


async def test_a_run_names_what_started_it(db: StateDB, runs: RunStore) -> None:
    schedule = await a_schedule(db, name="nightly")
    invocation = await an_invocation(db, skill="scheduled:nightly")
    firing = await a_firing(db, schedule, invocation_id=invocation)
    loose = await an_invocation(db, skill="launch:agent")
    task = await a_firing(db, None, invocation_id=loose, action_args={"model": "m"})
    found = await runs.firing_of_invocation(invocation)
    assert found is not None
    assert (found[0].run_id, found[0].schedule_id, found[1]) == (firing, schedule, "nightly")
    other = await runs.firing_of_invocation(loose)
    assert other is not None
    assert (other[0].run_id, other[0].argv, other[1]) == (task, (), None)
    assert await runs.firing_of_invocation("none") is None
    assert await runs.invocation_skill(loose) == "launch:agent"
    assert await runs.invocation_skill("none") is None


async def test_while_there_is_no_store_everything_is_empty(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    runs = RunStore(db)
    page = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)
    assert (page.runs, page.more) == ((), False)
    assert await runs.get_runs(["x"]) == ()
    assert await runs.approximate_count() == 0
    assert await runs.count_newer(EVERYTHING, (0.0, ""), limit=5) == 0
    assert await runs.firing_of_invocation("x") is None
    assert await runs.invocation_skill("x") is None
    assert not list(tmp_path.iterdir())

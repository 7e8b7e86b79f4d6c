"""Runs: what a list and a detail say, and at what cost."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.models.common import StateWord
from studio_tui.application.models.runs import RunQuery
from studio_tui.application.run_views import summarize
from studio_tui.application.runs import run_filter
from studio_tui.domain.runs import TransitionRecord
from tests.application.records import Runs, a_branch, a_firing, a_run
from tests.fakes.ports import NOW


@pytest.fixture
def world() -> Runs:
    return Runs()


async def test_a_list_is_newest_first_and_pages_meet_without_gap_or_double(world: Runs) -> None:
    world.runs.runs = [a_run(f"run-{n:02}", updated_at=NOW - n // 2) for n in range(11)]
    seen: list[str] = []
    cursor = None
    while True:
        page = await world.service.list_runs(RunQuery(limit=3, cursor=cursor))
        seen += [run.run_id for run in page.items]
        assert page.has_next == (page.next_cursor is not None)
        if not page.has_next:
            break
        cursor = page.next_cursor
    assert len(seen) == len(set(seen)) == 11
    assert seen == [run.run_id for run in sorted(world.runs.runs, key=lambda run: (run.updated_at, run.run_id), reverse=True)]


async def test_a_list_is_read_backwards_from_the_oldest_page(world: Runs) -> None:
    world.runs.runs = [a_run(f"run-{n}", updated_at=NOW - n) for n in range(7)]
    oldest = await world.service.list_runs(RunQuery(limit=3, backwards=True))
    assert [run.run_id for run in oldest.items] == ["run-4", "run-5", "run-6"]
    before = await world.service.list_runs(RunQuery(limit=3, backwards=True, cursor=oldest.next_cursor))
    assert [run.run_id for run in before.items] == ["run-1", "run-2", "run-3"]
    first = await world.service.list_runs(RunQuery(limit=3, backwards=True, cursor=before.next_cursor))
    assert [run.run_id for run in first.items] == ["run-0"]
    assert not first.has_next


async def test_a_list_costs_one_statement_and_asks_the_process_table_for_running_runs_only(world: Runs) -> None:
    alive = {"process_identity_mode": "local", "pid": 7, "pid_create_time": 1.0, "pid_host": "here", "pid_boot_time": 1.0}
    world.runs.runs = [a_run(f"run-{n}", metadata=alive) for n in range(20)]
    world.runs.runs += [a_run(f"live-{n}", status="running", ended_at=None, metadata=alive) for n in range(3)]
    await world.service.list_runs(RunQuery(limit=100))
    assert world.runs.asked == {"list_runs": 1}
    assert world.processes.asked == {"alive": 3}


async def test_a_running_run_is_judged_by_its_recorded_process(world: Runs) -> None:
    here = {"process_identity_mode": "local", "pid_create_time": 1.0, "pid_host": "here", "pid_boot_time": 1.0}
    world.processes.living, world.processes.dead = {7}, {8}
    common = {"status": "running", "ended_at": None, "last_message_at": NOW - 10, "updated_at": NOW - 10}
    world.runs.runs = [
        a_run("lives", metadata={**here, "pid": 7}, **common),
        a_run("gone", metadata={**here, "pid": 8}, **common),
        a_run("unknown", metadata={**here, "pid": 9}, **common),
        a_run("elsewhere", metadata={"process_identity_mode": "external", "pid": 8}, **common),
    ]
    page = await world.service.list_runs(RunQuery())
    assert {run.run_id: (run.effective_health, run.state) for run in page.items} == {
        "lives": ("healthy", StateWord.RUN),
        "gone": ("stale", StateWord.QUIET),
        "unknown": ("healthy", StateWord.RUN),
        "elsewhere": ("healthy", StateWord.RUN),
    }


@pytest.mark.parametrize(
    ("query", "status", "kinds"),
    [
        (RunQuery(status=("completed",)), {"completed", None}, set()),
        (RunQuery(status=("failed", "running")), {"failed", "running"}, set()),
        (RunQuery(kind="agent"), set(), {"agent", None}),
        (RunQuery(kind="show"), set(), {"show", "show-play"}),
        (RunQuery(kind="show-play"), set(), {"show", "show-play"}),
        (RunQuery(kind="flow"), set(), {"flow"}),
        (RunQuery(), set(), set()),
    ],
)
def test_conditions_reach_the_store_as_stored_values(query: RunQuery, status: set[str | None], kinds: set[str | None]) -> None:
    where = run_filter(query)
    assert where.status == status
    assert where.kinds == kinds


def test_blank_text_is_no_condition_and_text_is_passed_on_literally() -> None:
    assert run_filter(RunQuery(text="  ")).text is None
    assert run_filter(RunQuery(text=" 100% ")).text == "100%"


def test_a_condition_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValidationFailure) as caught:
        run_filter(RunQuery(text="\udcff"))
    assert caught.value.field_errors[0].path == ("text",)


async def test_a_missing_status_and_kind_read_as_completed_agent(world: Runs) -> None:
    world.runs.runs = [a_run(status=None, kind=None)]
    (run,) = (await world.service.list_runs(RunQuery(status=("completed",), kind="agent"))).items
    assert (run.status, run.state, run.invocation_kind) == ("completed", StateWord.OK, "agent")


def test_costs_are_shown_only_where_they_were_reported() -> None:
    assert summarize(a_run(total_cost_usd=None), now=NOW, alive=None).total_cost_usd is None
    assert summarize(a_run(total_cost_usd=0.0), now=NOW, alive=None).total_cost_usd == 0.0
    assert summarize(a_run(provider="codex", total_cost_usd=0.0), now=NOW, alive=None).total_cost_usd is None
    assert summarize(a_run(model="<synthetic>"), now=NOW, alive=None).model is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 60.0),
        ({"ended_at": NOW - 180}, 0.0),
        ({"ended_at": None}, None),
        ({"ended_at": None, "duration_ms": 1_500.0}, 1.5),
        ({"started_at": None}, None),
        ({"status": "running", "ended_at": None}, 120.0),
        ({"status": "running", "ended_at": None, "started_at": NOW + 500}, 0.0),
        ({"status": "nonsense", "ended_at": None}, None),
    ],
)
def test_durations_are_measured_never_negative_and_unknown_where_no_end_was_recorded(
    fields: dict[str, object], expected: float | None
) -> None:
    assert summarize(a_run(**fields), now=NOW, alive=None).duration == expected


def test_an_approximate_end_is_marked() -> None:
    assert summarize(a_run(ended_at_is_approximate=True), now=NOW, alive=None).ended_at_is_approximate
    assert not summarize(a_run(ended_at_is_approximate=True, ended_at=None), now=NOW, alive=None).ended_at_is_approximate


@pytest.mark.parametrize("stored", [1.7e12 * 1_000, math.inf, -math.inf, math.nan, -1.0, 1e18])
def test_an_impossible_time_is_unknown_and_named_with_what_was_stored(stored: float) -> None:
    run = summarize(a_run(started_at=stored, agent_name="helper"), now=NOW, alive=None)
    assert run.started_at is None
    assert run.duration is None
    assert any(problem.startswith("started_at") and repr(stored) in problem for problem in run.problems)


@given(st.floats(), st.floats(), st.floats(), st.sampled_from(["running", "completed", None]))
def test_no_stored_times_make_a_row_fail(started: float, ended: float, updated: float, status: str | None) -> None:
    run = a_run(started_at=started, ended_at=ended, updated_at=updated, last_message_at=updated, status=status)
    shown = summarize(run, now=NOW, alive=None)
    assert shown.duration is None or shown.duration >= 0
    shown.model_dump_json()


def test_unreadable_columns_are_named() -> None:
    assert summarize(a_run(defects=("node_metadata",)), now=NOW, alive=None).problems == ("node_metadata cannot be read",)


def test_a_reason_is_what_was_noted_else_the_meaning_of_its_code() -> None:
    def reason(**fields: object) -> str:
        return summarize(a_run(status="failed", **fields), now=NOW, alive=None).reason

    assert reason(reason_code="run.failed.exit_nonzero", reason_summary=" exit\n 3 ") == "exit 3"
    assert reason(reason_code="run.failed.exit_nonzero", reason_summary="") == "bad exit code"
    assert reason(reason_code="run.failed.of_another_version") == "run.failed.of_another_version"
    assert reason(reason_code="run.failed.exception", reason_summary="failed") == "error"
    assert reason(reason_code="run.completed.ok") == ""
    assert reason() == ""


async def test_refreshed_runs_come_in_the_order_asked_for_without_those_that_are_gone(world: Runs) -> None:
    world.runs.runs = [a_run("a"), a_run("b"), a_run("c")]
    assert [run.run_id for run in await world.service.refresh_runs(["c", "gone", "a", "c"])] == ["c", "a"]
    assert await world.service.refresh_runs([]) == ()
    assert world.runs.asked == {"get_runs": 1}


async def test_pages_on_either_side_of_a_shown_run_are_asked_for_with_its_cursor(world: Runs) -> None:
    world.runs.runs = [a_run(f"run-{n}", updated_at=NOW - n) for n in range(7)]
    shown = (await world.service.list_runs(RunQuery())).items[3]
    cursor = world.service.cursor_at(shown.updated_at, shown.run_id)
    older = await world.service.list_runs(RunQuery(cursor=cursor))
    assert [run.run_id for run in older.items] == ["run-4", "run-5", "run-6"]
    newer = await world.service.list_runs(RunQuery(cursor=cursor, backwards=True))
    assert [run.run_id for run in newer.items] == ["run-0", "run-1", "run-2"]


async def test_newer_runs_are_counted_under_the_same_conditions(world: Runs) -> None:
    world.runs.runs = [a_run(f"run-{n}", updated_at=NOW - n, status="failed" if n % 2 else "completed") for n in range(6)]
    shown = (await world.service.list_runs(RunQuery(status=("failed",)))).items[-1]
    assert await world.service.count_newer(RunQuery(status=("failed",)), shown) == 2
    assert await world.service.count_newer(RunQuery(), shown) == 5
    assert await world.service.approximate_count() == 6


async def test_a_detail_links_schedule_firing_invocation_and_run(world: Runs) -> None:
    run = a_run(invocation_id="inv-1", metadata={"pid": 7, "pid_host": "here", "resumed_from": "run-0"})
    world.runs.runs = [run, a_run("run-2", invocation_id="inv-1"), a_run("other", invocation_id="inv-2")]
    world.runs.skills = {"inv-1": "scheduled:tidy"}
    world.runs.firing_rows = {"inv-1": (a_firing("firing-9"), "tidy")}
    world.runs.branch_rows = [a_branch(), a_branch("branch-2", name="critic", model="<synthetic>")]
    world.runs.history = [
        TransitionRecord("t1", "session", "run-1", None, "running", "run.started.ok", "", "system", "create_session", NOW - 120),
        TransitionRecord("t2", "session", "run-1", "running", "completed", "run.completed.ok", "done", "executor", "run-1", NOW),
        TransitionRecord("t3", "play", "run-1", None, "pending", "play.pending.created", "", "system", None, NOW),
    ]
    detail = await world.service.get_run("run-1")
    assert detail.provenance.model_dump() == {
        "invocation_id": "inv-1",
        "invocation_skill": "scheduled:tidy",
        "schedule_id": "schedule-1",
        "schedule_name": "tidy",
        "firing_id": "firing-9",
        "resumed_from": "run-0",
    }
    assert detail.siblings == ("run-2",)
    assert [(branch.name, branch.model) for branch in detail.branches] == [("helper", None), ("critic", None)]
    assert [(change.previous_status, change.status, change.reason_summary) for change in detail.history] == [
        (None, "running", None),
        ("running", "completed", "done"),
    ]
    assert (detail.pid, detail.pid_host) == (7, "here")


async def test_a_run_of_nobody_has_no_origin_and_asks_for_none(world: Runs) -> None:
    world.runs.runs = [a_run(metadata={"pid": True, "pid_host": 4, "resumed_from": 7})]
    detail = await world.service.get_run("run-1")
    assert set(detail.provenance.model_dump().values()) == {None}
    assert detail.siblings == ()
    assert (detail.pid, detail.pid_host) == (None, None)
    assert not {"invocation_skill", "firing_of_invocation", "runs_of_invocation"} & set(world.runs.asked)


@pytest.mark.parametrize(
    ("fields", "status", "missing"),
    [
        ({"verification": {"status": "failed", "missing_required": ["plan", {"id": "report", "path": "r.md"}]}}, "failed",
         ("plan", "report")),
        ({"verification": {"status": "passed"}}, "passed", ()),
        ({"verification": {"status": "failed", "missing_required": "plan"}}, "failed", ()),
        ({}, "not_recorded", ()),
        ({"status": "running", "contract": {"expected": [{"id": "plan"}]}}, "pending", ()),
        ({"status": "running", "contract": {"expected": []}}, None, ()),
        ({"status": "running"}, None, ()),
    ],
)  # fmt: skip
async def test_what_became_of_the_artifacts(
    world: Runs, fields: dict[str, object], status: str | None, missing: tuple[str, ...]
) -> None:
    world.runs.runs = [a_run(**fields)]
    detail = await world.service.get_run("run-1")
    assert (detail.artifact_status, detail.missing_required) == (status, missing)


async def test_an_unknown_run_is_not_found(world: Runs) -> None:
    with pytest.raises(NotFound) as caught:
        await world.service.get_run("nobody")
    assert (caught.value.resource, caught.value.identifier) == ("run", "nobody")


async def test_a_prefix_names_one_run_or_lists_those_it_fits(world: Runs) -> None:
    ids = ["abcdef12-0000-4000-8000-00000000000a", "abcdef12-0000-4000-8000-00000000000b", "ffff0000-1"]
    world.runs.runs = [a_run(run_id) for run_id in ids]
    assert await world.service.resolve_run_id(" ffff ") == "ffff0000-1"
    assert await world.service.resolve_run_id(ids[0]) == ids[0]
    with pytest.raises(Conflict) as caught:
        await world.service.resolve_run_id("abcdef12")
    assert ids[0] in str(caught.value)
    assert ids[1] in str(caught.value)


async def test_an_id_that_begins_another_one_still_names_its_run(world: Runs) -> None:
    world.runs.runs = [a_run("run-1"), a_run("run-10"), a_run("run-11")]
    assert await world.service.resolve_run_id("run-1") == "run-1"


async def test_an_ambiguity_shows_as_many_characters_as_it_takes_and_counts_the_rest(world: Runs) -> None:
    world.runs.runs = [a_run(f"aaaaaaaa-{n:02}-tail-of-the-id") for n in range(12)]
    with pytest.raises(Conflict) as caught:
        await world.service.resolve_run_id("aaaa")
    assert "aaaaaaaa-00, aaaaaaaa-01," in str(caught.value)
    assert "tail" not in str(caught.value)
    assert "more" in str(caught.value)


@pytest.mark.parametrize("wild", ["%", "_", "aaaa%", "*"])
async def test_wildcards_are_literal(world: Runs, wild: str) -> None:
    world.runs.runs = [a_run("aaaa1"), a_run("aaaa2")]
    with pytest.raises(NotFound):
        await world.service.resolve_run_id(wild)


@pytest.mark.parametrize("nothing", ["", "   ", "\udcff"])
async def test_what_names_nothing_is_refused_before_the_store_is_asked(world: Runs, nothing: str) -> None:
    with pytest.raises(ValidationFailure):
        await world.service.resolve_run_id(nothing)
    assert not world.runs.asked


async def test_a_store_that_cannot_answer_says_so(world: Runs) -> None:
    world.runs.trouble = StateUnavailable("the store is busy", retryable=True)
    with pytest.raises(StateUnavailable) as caught:
        await world.service.list_runs(RunQuery())
    assert caught.value.retryable

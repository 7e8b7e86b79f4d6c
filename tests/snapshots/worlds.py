"""A studio in memory with something of everything, so that a picture shows every state once."""

from __future__ import annotations

from studio_tui.application.models.common import StateWord, StatusChange
from studio_tui.application.models.definitions import DefinitionDetail, DefinitionSummary, DefinitionVersion
from studio_tui.application.models.runs import BranchSummary, Provenance, RunDetail
from studio_tui.application.models.schedules import (
    CronTrigger,
    Deletion,
    Fire,
    ScheduleAction,
    ScheduleDefinition,
    ScheduleDetail,
)
from studio_tui.application.models.shows import PlayView, ShowDetail, ShowSummary
from studio_tui.application.models.why import Why, WhyGate
from tests.fakes.studio import NOW, FakeStudio
from tests.tui.samples import a_call, a_firing, a_run, a_schedule, messages

_ENDS = (
    (StateWord.FAIL, "failed", "rate limit, 14 like it"),
    (StateWord.RUN, "running", ""),
    (StateWord.QUIET, "running", "quiet 22m, process alive"),
    (StateWord.OK, "completed", ""),
    (StateWord.REJECTED, "completed", "verdict: reject"),
    (StateWord.TIME, "timed_out", "limit of 30 min reached"),
    (StateWord.CANCELLED, "cancelled", "stopped by hand"),
    (StateWord.LOST, "failed", "process gone"),
    (StateWord.EMPTY, "completed_empty", "no commit, no artifact"),
    (StateWord.ABORTED, "aborted", "stopped at the terminal"),
)


def full_studio() -> FakeStudio:
    """Runs, schedules, shows and definitions in every state."""
    studio = FakeStudio()
    _runs(studio)
    _schedules(studio)
    _shows(studio)
    _definitions(studio)
    return studio


def _runs(studio: FakeStudio) -> None:
    for number in range(60):
        word, status, reason = _ENDS[number % len(_ENDS)]
        live = status == "running"
        studio.runs.rows.append(
            a_run(
                number * 11,
                name=("pr-review #8812", "weekly-digest", "refactor-api", "日本語の名前", "e\u0301clair [bold]x[/bold]")[
                    number % 5
                ],
                state=word,
                status=status,
                reason=reason,
                invocation_kind=("agent", "flow", "play", "fanout")[number % 4],
                project=("web", "ops", None)[number % 3],
                agent_name=("reviewer", "coder", None)[number % 3],
                model="claude_code/sonnet",
                current_phase="5/9 draft" if live else None,
                ended_at=None if live else NOW - 660.0 * number,
                duration=None if live else 62.0 + number,
                total_cost_usd=(0.09, None, 1.8)[number % 3],
                input_tokens=12_400,
                output_tokens=800,
            )
        )
    first = studio.runs.rows[1]
    studio.runs.live.add(first.run_id)
    studio.runs.messages[first.run_id] = [*messages(8), *a_call(1), *a_call(2, error="timeout after 5s"), *messages(2, begin=8)]
    studio.runs.details[first.run_id] = RunDetail(
        **first.model_dump(),
        branches=(BranchSummary(branch_id="b1", name="writer"), BranchSummary(branch_id="b2", name="critic")),
        history=(
            StatusChange(
                at=NOW - 700,
                previous_status=None,
                status="running",
                reason_code="run.started.ok",
                reason_summary=None,
                source="system",
                actor="create_session",
            ),
        ),
        provenance=Provenance(invocation_id="c0ffee00cafe", schedule_name="weekly-digest", schedule_id="s2", firing_id="f00d"),
        pid=4121,
        pid_host="this-host",
    )


def _schedules(studio: FakeStudio) -> None:
    ok, fail, skip = StateWord.OK, StateWord.FAIL, StateWord.SKIP
    audit = a_schedule(
        "shop-audit",
        zone="Europe/Berlin",
        zone_source="schedule:resolved_timezone",
        trigger="hourly at :45",
        trigger_type="cron",
        outcomes=(ok,) * 6 + (fail,) * 4,
        health="failing",
        consecutive_failures=4,
        action="agent auditor",
        action_kind="agent",
    )
    studio.schedules.rows = [
        audit,
        a_schedule("backup", state=StateWord.OFF, enabled=False, health="disabled", outcomes=(ok, ok, fail)),
        a_schedule("broken", state=StateWord.BROKEN, problems=("cron_expr: is empty; give five fields",), outcomes=()),
        a_schedule("crawl", outcomes=(ok, ok, skip, ok), running=1),
        a_schedule("late", next_fire_at=NOW - 7_300, health="overdue"),
        a_schedule("once", state=StateWord.DONE, enabled=False, next_fire_at=None, trigger="once, nothing left"),
        a_schedule("poll", blocked="GitHub did not accept the token, once (401)", trigger="github shop/web every 15 min"),
        a_schedule("report", zone="UTC", zone_source="fallback:utc", trigger="daily 02:00", trigger_type="cron"),
    ]
    studio.schedules.details[audit.schedule_id] = ScheduleDetail(
        **audit.model_dump(),
        command_line=("li", "agent", "--agent", "auditor", "--", "Audit the merges"),
        working_directory="/srv/app",
        max_runs=200,
        executed_runs=61,
        budget_usd=6.0,
        definition=ScheduleDefinition(
            name="shop-audit",
            trigger=CronTrigger(expression="45 * * * *", timezone="Europe/Berlin"),
            action=ScheduleAction(kind="agent", agent="auditor", prompt="Audit the merges", cwd="/srv/app"),
            max_runs=200,
        ),
        next_fires=tuple(
            Fire(
                at=NOW + 1_980 + 3_600 * hour,
                local=f"Thu 12 Mar {4 + hour:02d}:45",
                note="clocks go forward" if hour == 4 else None,
            )
            for hour in range(5)
        ),
    )
    studio.schedules.whys[audit.schedule_id] = _why(audit.schedule_id)
    studio.schedules.deletions[audit.schedule_id] = Deletion(
        schedule_id=audit.schedule_id, name=audit.name, firings=61, running=("f00dcafe0001",)
    )
    studio.schedules.firings[audit.schedule_id] = [
        a_firing(0, state=fail, status="failed", exit_code=3, reason="exit code 3", output_tail="reading\ndisk full\n"),
        a_firing(1, state=skip, status="skipped", exit_code=None, reason="overlap: the last firing still runs", output_tail=None),
        *(a_firing(number) for number in range(2, 9)),
    ]


def _why(schedule_id: str) -> Why:
    """Every gate once, two of them shut."""
    busy = "still running: 1 firing of it (overlap: skip): f00dcafe0001"
    words = {
        "hosted": "this process fires the schedules of this store",
        "held": "firing is not held",
        "enabled": "it is on",
        "definition": "it can be read and computed",
        "due": "due in 33 min",
        "threshold": "no threshold",
        "overlap": busy,
        "budget": "$4.10 of $6.00 spent",
        "rate": "1 of 3 in 3600 s",
        "max_runs": "61 of 200 runs used",
        "slots": "2 of 4 slots taken",
        "launch": "directory '/srv/app' does not exist",
    }
    shut = ("overlap", "launch")
    return Why(
        schedule_id=schedule_id,
        name="shop-audit",
        about="coming",
        at=NOW + 1_980,
        local="Thu 2026-03-12 04:45 CET",
        fires=False,
        answer=f"will not fire: {busy}",
        gates=tuple(WhyGate(gate=gate, passed=gate not in shut, words=said) for gate, said in words.items()),
        chain=("on fail: kind agent, agent notify-ops with a prompt of its own",),
    )


def _shows(studio: FakeStudio) -> None:
    show = ShowSummary(
        topic="atlas-v2",
        state=StateWord.ACTIVE,
        status="active",
        source="both",
        goal="Ship version two of atlas.",
        repo="demo/atlas",
        plays_total=9,
        plays_merged=2,
        gated=2,
        active_play="docs",
        created_at=NOW - 86_400,
        updated_at=NOW - 600,
    )
    studio.shows.rows = [
        show,
        ShowSummary(topic="cobalt", state=StateWord.ABORTED, status="aborted", source="store", goal="Given up.", plays_total=2),
        ShowSummary(
            topic="fresh", state=StateWord.UNKNOWN, status=None, source="disk", problem="play two: _meta.json is not JSON"
        ),
    ]
    words = (
        ("parser", StateWord.MERGED, "merged"),
        ("docs", StateWord.RUN, "running"),
        ("bench", StateWord.GATE_FAILED, "gate_failed"),
        ("wiring", StateWord.GATE, "gated"),
        ("cleanup", StateWord.WAIT, "pending"),
        ("migrate", StateWord.BLOCKED, "blocked"),
        ("polish", StateWord.REDO, "redoing"),
    )
    studio.shows.details["atlas-v2"] = ShowDetail(
        **show.model_dump(),
        base_branch="main",
        integration_branch="show/atlas-v2",
        plays=tuple(
            PlayView(
                name=name,
                state=word,
                status=status,
                source="both",
                live_state="available",
                attempt=1,
                started_at=NOW - 3_000,
                ended_at=None if status == "running" else NOW - 1_200,
                duration=1_800.0,
                gate="no" if "gate" in status else None,
                gate_feedback="slower than before" if status == "gate_failed" else None,
                needs_person="gate" in status,
                depends_on=("parser",) if name != "parser" else (),
            )
            for name, word, status in words
        ),
    )


def _definitions(studio: FakeStudio) -> None:
    agent = DefinitionSummary(
        kind="agent",
        name="reviewer",
        persistence="file; versions in the store",
        path="agents/reviewer.md",
        drift="edited",
        version=2,
        description="Reads a change and lists what is wrong with it.",
        modified_at=NOW - 900,
        size_bytes=412,
    )
    studio.definitions.rows = [
        agent,
        agent.model_copy(update={"name": "coder", "drift": "same", "version": 7}),
        agent.model_copy(update={"kind": "playbook", "name": "release", "drift": "no_snapshot", "version": None}),
        agent.model_copy(update={"kind": "skill", "name": "lost", "drift": "file_missing", "path": None}),
        agent.model_copy(update={"kind": "skill", "name": "latin", "drift": "unreadable", "problem": "not UTF-8 at byte 12"}),
        agent.model_copy(update={"kind": "workflow", "name": "triage", "drift": "no_history", "persistence": "row in the store"}),
    ]
    studio.definitions.details["agent", "reviewer"] = DefinitionDetail(
        **agent.model_dump(),
        content="---\nprovider: claude_code\nmodel: sonnet\n---\n# Review\n\nList defects first, each with **file** and line.\n",
        versions=(
            DefinitionVersion(version=2, created_at=NOW - 8_000, message="cheaper", content_length=90),
            DefinitionVersion(version=1, created_at=NOW - 900_000, message="first version", content_length=80),
        ),
    )

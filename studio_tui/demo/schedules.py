"""Schedules of every trigger with what they fired, skipped and failed at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from studio_tui.demo.rows import DAY, HOUR, MINUTE, Rows
from studio_tui.demo.runs import Run, add_run
from studio_tui.demo.talk import short_talk
from studio_tui.domain.cadence import first_fire
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.state import schema

_FLOW: Final = "name: digest\nmodel: claude_code/sonnet\nworkers: 2\nprompt: |\n  Write the weekly digest.\n"


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule to make. ``history`` lists its firings, newest first, each ``every`` seconds before the one after it."""

    name: str
    kind: str
    columns: dict[str, Any]
    description: str | None = None
    enabled: bool = True
    ended: tuple[str, str] | None = None
    history: tuple[str, ...] = ()
    every: float = DAY
    extra: dict[str, Any] = field(default_factory=dict)


def add_schedules(rows: Rows, home: Path, default: Zone) -> None:
    """Every schedule of the demo, with its history."""
    for plan in (*_living(rows.now), *_working(), *_resting(rows.now)):
        _add(rows, plan, str(home / "work"), default)


def _living(now: float) -> tuple[Plan, ...]:
    """Those that fire while one watches."""
    return (
        Plan("clock", "interval", {"interval_sec": 5, **_command("date", "+%H:%M:%S")}, "Says what time it is."),
        Plan("flaky-check", "interval", {"interval_sec": 20, **_command("ls", "/no/such/place")}, "Always fails.",
             history=("failed",) * 3 + ("completed",) * 4, every=20 * MINUTE),
        Plan("slow-sweep", "interval", {"interval_sec": 30, **_command("sleep", "12")}, "Takes a while.",
             history=("completed", "skipped", "completed", "completed"), every=10 * MINUTE),
    )  # fmt: skip


def _working() -> tuple[Plan, ...]:
    """Those of a working day: agents, flows, playbooks."""
    review = {
        "action_agent": "reviewer",
        "action_prompt": "Review yesterday's changes and list risks.",
        "action_project": "atlas",
    }
    triage = {"action_agent": "researcher", "action_prompt": "Sort the new issues.", "action_project": "beacon"}
    zone = "America/New_York"
    return (
        Plan("nightly-review", "agent", {"cron_expr": "0 2 * * *", "resolved_timezone": "Europe/Berlin", **review},
             "Reads yesterday's commits.", history=("completed",) * 3 + ("failed", "completed", "timed_out", *["completed"] * 6),
             extra={"budget_usd": 25.0, "project": "atlas"}),
        Plan("hourly-triage", "agent", {"trigger_type": "interval", "interval_sec": 3600, **triage},
             history=("completed", "overlap", "completed", "missed", "completed", "completed_empty"), every=HOUR,
             extra={"missed_fire_policy": "run_once", "project": "beacon"}),
        Plan("weekly-digest", "flow_yaml", {"cron_expr": "0 9 * * MON", "resolved_timezone": zone, "action_flow_yaml": _FLOW},
             "What happened, for everybody.", history=("completed", "completed"), every=7 * DAY, extra={"project": "docs"}),
        Plan("month-end-audit", "play", {"cron_expr": "30 6 28-31 * *", "action_playbook": "audit"}),
        Plan("quiet-hours", "flow", {"cron_expr": "*/15 22-23,0-5 * * *", "action_model": "claude_code/haiku",
             "action_prompt": "Look for alerts."}, enabled=False, ended=("schedule_definition.disabled.manual", "too noisy")),
    )  # fmt: skip


def _resting(now: float) -> tuple[Plan, ...]:
    """One that is to come once, one that is over, and those that cannot fire."""
    prompt = {"action_model": "claude_code/haiku", "action_prompt": "Summarize."}
    return (
        Plan("release-day", "play", {"trigger_type": "at", "next_fire_at": now + 3 * DAY, "max_runs": 1,
             "action_playbook": "release"}, "Cuts the release."),
        Plan("migration-window", "command", {**_command("date"), "trigger_type": "at", "max_runs": 1}, "Was needed once.",
             enabled=False, ended=("schedule_definition.disabled.max_runs", "max_runs 1 reached"), history=("completed",)),
        Plan("pull-requests", "agent", {"trigger_type": "github_poll", "github_repo": "example/atlas", "poll_interval_sec": 300,
             **prompt}, "Looks at new pull requests.", enabled=False,
             ended=("schedule_definition.disabled.manual", "a sample asks nobody on the network")),
        Plan("expensive-survey", "fanout", {"cron_expr": "0 4 * * *", "action_model": "claude_code/opus",
             "action_prompt": "Survey everything."}, enabled=False, history=("budget", "completed", "completed"),
             ended=("schedule_definition.disabled.budget_exhausted", "budget_usd 5.0 exhausted"), extra={"budget_usd": 5.0}),
        Plan("half-written", "agent", {"trigger_type": "interval", **prompt}, "Has no interval."),
    )  # fmt: skip


def _command(executable: str, *arguments: str) -> dict[str, Any]:
    return {"trigger_type": "interval", "action_command": executable, "action_command_args": list(arguments)}


def _add(rows: Rows, plan: Plan, directory: str, default: Zone) -> None:
    identifier, created = rows.digits(12), rows.now - 20 * DAY
    columns = {"trigger_type": "cron", **plan.columns}
    kind = "command" if "action_command" in columns else plan.kind
    if columns["trigger_type"] == "cron" and "resolved_timezone" not in columns:
        columns |= {"effective_timezone": default.name, "effective_timezone_source": default.source}
    following = _following(rows, identifier, plan, columns, kind, default)
    newest = (following or rows.now + plan.every * 0.6) - plan.every
    last = newest if plan.history else None
    rows.add(
        schema.schedules,
        id=identifier,
        name=plan.name,
        description=plan.description,
        enabled=int(plan.enabled),
        action_kind=kind,
        action_cwd=directory,
        action_extra_args=[],
        last_fired_at=last,
        created_at=created,
        updated_at=created,
        **{**columns, "next_fire_at": following},
        **plan.extra,
    )
    _tell(rows, identifier, plan, created)
    for number, ending in enumerate(plan.history):
        _fire(rows, identifier, plan, kind, columns, newest - plan.every * number, ending)


def _following(rows: Rows, identifier: str, plan: Plan, columns: dict[str, Any], kind: str, default: Zone) -> float | None:
    """The next instant, by the function that everything uses; none for what is off or broken."""
    if not plan.enabled or columns["trigger_type"] == "github_poll":
        return None
    if columns["trigger_type"] == "at":
        return float(columns["next_fire_at"])
    if columns["trigger_type"] == "interval" and "interval_sec" not in columns:
        return None
    if columns.get("interval_sec") == plan.every:
        return rows.now + 0.6 * plan.every  # in the middle of its phase, so that its last firing has ended
    record = ScheduleRecord(
        identifier,
        plan.name,
        True,
        columns["trigger_type"],
        kind,
        cron_expr=columns.get("cron_expr"),
        interval_sec=columns.get("interval_sec"),
        resolved_timezone=columns.get("resolved_timezone"),
    )
    return first_fire(record, rows.now, default)


def _tell(rows: Rows, identifier: str, plan: Plan, created: float) -> None:
    """The definition's own history: made, and turned off where it is off."""
    away = {"actor_status": "unavailable", "cwd_status": "unavailable", "assurance": "unavailable", "submitting_cwd": None}
    about = {"schedule_name": plan.name, "provenance": {"origin": "unavailable", **away, "failure_category": "not_provided"}}
    observed = "schedule_definition.created.observed"
    rows.changed("schedule", identifier, created, None, "enabled", observed, source="unavailable", metadata=about)
    if plan.ended is not None:
        code, summary = plan.ended
        rows.changed("schedule", identifier, rows.now - 2 * DAY, "enabled", "disabled", code, summary, source="scheduler",
                     metadata=about)  # fmt: skip


def _fire(rows: Rows, schedule: str, plan: Plan, kind: str, columns: dict[str, Any], at: float, ending: str) -> None:
    if ending in _REFUSED:
        _refuse(rows, schedule, kind, at, *_REFUSED[ending])
        return
    firing, invocation = rows.digits(12), rows.digits(12)
    took, code = _TOOK.get(ending, 95.0), None if ending == "timed_out" else int(ending != "completed")
    stored, reason, summary = _ENDED[ending]
    session = kind == "agent"
    prompt = columns.get("action_prompt") or columns.get("action_playbook")
    rows.add(schema.invocations, id=invocation, skill=f"scheduled:{plan.name}", plugin=columns["trigger_type"], prompt=prompt,
             started_at=at, ended_at=at + took, status=ending, session_count=int(session), created_at=at, updated_at=at + took,
             node_metadata={"action_kind": kind}, status_reason_code=reason, status_reason_summary=summary,
             status_evidence_refs=[])  # fmt: skip
    rows.add(schema.schedule_runs, id=firing, schedule_id=schedule, invocation_id=invocation, action_kind=kind,
             trigger_context={"scheduled": True, "fired_at": at}, action_args=_argv(kind, columns), status=stored,
             exit_code=code, fired_at=at, dispatched_at=at + 0.2, ended_at=at + took, created_at=at, updated_at=at + took,
             error_detail=f"{summary}: see the run" if code else None, status_reason_code=reason,
             status_reason_summary=summary, status_evidence_refs=[])  # fmt: skip
    rows.changed("schedule_run", firing, at, None, "running", "run.started.ok", source="system", actor="create_schedule_run")
    rows.changed("schedule_run", firing, at, "running", "running", "schedule.fired.due", source="system", actor=schedule)
    rows.changed("schedule_run", firing, at + took, "running", stored, reason, summary, actor=firing)
    if session:
        add_run(rows, Run(rows.now - at - 2, took - 4, ending, reason, summary, agent=columns.get("action_agent"),
                          project=columns.get("action_project"), cost=0.21, invocation=invocation,
                          talk=short_talk("the changes", 9) if ending != "completed_empty" else ()))  # fmt: skip


def _refuse(rows: Rows, schedule: str, kind: str, at: float, reason: str, summary: str, context: dict[str, Any]) -> None:
    firing = rows.digits(12)
    rows.add(schema.schedule_runs, id=firing, schedule_id=schedule, action_kind=kind, trigger_context={**context, "fired_at": at},
             action_args=[], status="skipped", fired_at=at, ended_at=at, created_at=at, updated_at=at,
             error_detail=f"skipped: {summary}", status_reason_code=reason, status_reason_summary=summary,
             status_evidence_refs=[])  # fmt: skip
    rows.changed("schedule_run", firing, at, None, "skipped", reason, summary, source="system", actor="create_schedule_run")


_TOOK: Final = {"timed_out": 7200.0, "failed": 9.0, "completed_empty": 40.0}
_ENDED: Final = {
    "completed": ("completed", "run.completed.ok", "completed"),
    "completed_empty": ("failed", "run.completed_empty.no_evidence", "no commit, no artifact"),
    "failed": ("failed", "run.failed.exit_nonzero", "exit code 1"),
    "timed_out": ("timed_out", "run.timed_out.deadline", "limit of 2 h reached"),
}
_REFUSED: Final = {
    "skipped": ("schedule.skipped.overlap", "overlap", {"skipped_overlap": True}),
    "overlap": ("schedule.skipped.overlap", "overlap", {"skipped_overlap": True}),
    "missed": ("schedule.skipped.missed_fire", "missed", {"skipped_missed_fire": True}),
    "budget": ("schedule.budget.exhausted", "budget_usd 5.0 exhausted", {"skipped_budget": True}),
}


def _argv(kind: str, columns: dict[str, Any]) -> list[str]:
    builders: dict[str, Callable[[], list[str]]] = {
        "command": lambda: [columns["action_command"], *columns["action_command_args"]],
        "agent": lambda: ["li", "agent", "--agent", columns.get("action_agent") or "", "--", columns["action_prompt"]],
        "flow_yaml": lambda: ["li", "o", "flow", "-f", "lionagi-sched-demo.yaml", "--"],
        "fanout": lambda: ["li", "o", "fanout", "--", columns["action_model"], columns["action_prompt"]],
    }
    return builders[kind]()

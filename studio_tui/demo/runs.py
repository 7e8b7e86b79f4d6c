"""Runs in every state, over nine days, in several projects."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from studio_tui.demo.rows import DAY, HOUR, MINUTE, Rows
from studio_tui.demo.talk import Talk, long_talk, short_talk
from studio_tui.state import schema

PROJECTS: Final = {
    "atlas": ("config_toml", "Maps and routes."),
    "beacon": ("git_remote", "Signals and lights."),
    "cobalt": ("studio", "The cache in front of everything."),
    "docs": ("cwd_dir", None),
}
_ELSEWHERE: Final = "build-host"
"""A host that this one can say nothing about, so that invented running runs are taken at their word."""
_NO_PROCESS: Final = 4_194_305
"""One more than the largest pid that Linux gives."""
_MODELS: Final = {"claude_code": "claude_code/sonnet", "codex": "codex/gpt-5.3-codex", "openai": "openai/gpt-5-mini"}
_CLASSES: Final = ("", "system.System", "instruction.Instruction", "assistant_response.AssistantResponse",
                   "action_request.ActionRequest", "action_response.ActionResponse")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """A run to make. ``ago`` is its start in seconds before now, ``took`` its length; a running one has none."""

    ago: float
    took: float | None = 300.0
    status: str | None = "completed"
    reason: str = "run.completed.ok"
    summary: str = ""
    kind: str = "agent"
    agent: str | None = None
    playbook: str | None = None
    label: str | None = None
    show: tuple[str, str] | None = None
    project: str | None = "atlas"
    provider: str = "claude_code"
    cost: float | None = None
    talk: Talk = ()
    branches: tuple[tuple[str, str | None], ...] = (("main", None),)
    quiet_for: float = 20.0
    host: str = _ELSEWHERE
    phase: str | None = None
    tags: tuple[str, ...] = ()
    invocation: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def add_projects(rows: Rows, home: Path) -> None:
    """The projects that runs belong to."""
    for number, (name, (source, description)) in enumerate(PROJECTS.items()):
        at = rows.now - (40 - number) * DAY
        path = str(home / "work" / name)
        rows.add(schema.projects, name=name, source=source, path=path, description=description,
                 created_at=at, updated_at=at, last_seen_at=rows.now - HOUR)  # fmt: skip


def add_runs(rows: Rows) -> None:
    """One run in each state, then a week of ordinary ones."""
    for run in _particular():
        add_run(rows, run)
    _ordinary(rows)


def _particular() -> tuple[Run, ...]:
    flow = (("plan", "completed"), ("search", "running"), ("compare", "running"), ("write", None))
    done = tuple((name, "completed") for name in ("plan", "search", "compare", "write"))
    return (
        Run(6 * MINUTE, None, "running", "run.started.ok", agent="reviewer", talk=short_talk("the open change", 14)),
        Run(24 * MINUTE, None, "running", "run.started.ok", kind="flow", label="compare three parsers", project="beacon",
            branches=flow, talk=short_talk("three parsers", 22), phase="search", cost=0.41),
        Run(95 * MINUTE, None, "running", "run.started.ok", agent="researcher", project="docs", quiet_for=83 * MINUTE,
            talk=short_talk("old release notes", 9)),
        Run(16 * HOUR, None, "running", "run.started.ok", agent="implementer", project="cobalt", quiet_for=14.5 * HOUR,
            talk=short_talk("eviction order", 30), provider="codex"),
        Run(70 * MINUTE, None, "running", "run.started.ok", agent="tester", project=None, host=socket.gethostname(),
            quiet_for=70 * MINUTE),
        Run(2 * HOUR, 1900, agent="implementer", label="Rewrite the router", cost=2.3187, talk=long_talk(), tags=("big", "keep")),
        Run(3 * HOUR, 640, kind="flow", label="release notes for 2.4", project="docs", branches=done, cost=0.92,
            talk=short_talk("the release notes", 26)),
        Run(5 * HOUR, 210, reason="run.completed.gate_rejected", summary="gate said no: two tests missing", agent="tester",
            cost=0.12, talk=short_talk("the test plan", 12)),
        Run(7 * HOUR, 45, "completed_empty", "run.completed_empty.no_evidence", "no commit, no artifact", agent="implementer",
            project="beacon", cost=0.03),
        Run(9 * HOUR, 12, "failed", "run.failed.provider_nonretryable", "401 from the provider: the key was refused",
            agent="reviewer", project="beacon", talk=short_talk("the lamp driver", 3)),
        Run(11 * HOUR, 7200, "timed_out", "run.timed_out.deadline", "limit of 2 h reached", kind="fanout",
            label="benchmark sweep", project="cobalt", cost=4.07, branches=tuple((f"case {n}", "completed") for n in range(1, 6)),
            talk=short_talk("the benchmarks", 40)),
        Run(13 * HOUR, 380, "aborted", "run.aborted.user", "stopped at the terminal", kind="play", playbook="release",
            talk=short_talk("the release", 8)),
        Run(15 * HOUR, 90, "cancelled", "run.cancelled.manual_kill", "stopped by hand", agent="researcher", project=None),
        Run(20 * HOUR, 4000, "failed", "session.phantom.process_dead", "phantom_reaped", agent="implementer", project="cobalt",
            talk=short_talk("the cold start", 11), extra={"ended_at_is_approximate": 1, "duration_ms": None}),
        Run(22 * HOUR, 530, kind="show-play", show=("atlas-v2", "parser"), cost=0.77, talk=short_talk("the parser", 18)),
        Run(26 * HOUR, 75, "failed", "run.failed.missing_artifact", "report.md was promised and is not there", agent="writer",
            project="docs", cost=0.08),
        Run(28 * HOUR, 610, kind="engine", label="engine: research", project="docs", provider="openai", cost=0.35),
        Run(30 * HOUR, 15, None, "", agent="researcher", project=None),
    )  # fmt: skip


def _ordinary(rows: Rows) -> None:
    kinds = (("agent", "reviewer"), ("agent", "implementer"), ("agent", "researcher"), ("agent", "tester"), ("play", None))
    topics = ("the retry loop", "a flaky test", "the install page", "slow queries", "unused settings", "the error texts")
    for number in range(60):
        kind, agent = rows.random.choice(kinds)
        failed = rows.random.random() < 0.12
        cost = None if rows.random.random() < 0.2 else round(rows.random.uniform(0.01, 0.9), 4)
        add_run(
            rows,
            Run(
                1.3 * DAY + number * 2.9 * HOUR + rows.random.uniform(0, HOUR),
                rows.random.uniform(20, 1500),
                "failed" if failed else "completed",
                "run.failed.exit_nonzero" if failed else "run.completed.ok",
                "exit code 1" if failed else "",
                kind=kind,
                agent=agent,
                playbook="audit" if kind == "play" else None,
                project=rows.random.choice((*PROJECTS, None)),
                provider=rows.random.choice(tuple(_MODELS)),
                cost=cost,
                talk=short_talk(rows.random.choice(topics), rows.random.randrange(4, 16)),
            ),
        )


def add_run(rows: Rows, run: Run) -> str:
    """Insert a run with its branches, transcript and history; its id."""
    identifier = rows.uuid()
    started = rows.now - run.ago
    ended = started + run.took if run.took is not None else None
    spoke = rows.now - run.quiet_for if ended is None else ended
    progression, messages = _speak(rows, run, identifier, started, spoke)
    rows.add(schema.sessions, id=identifier, progression_id=progression, **_columns(rows, run, started, ended, spoke, messages))
    for tag in run.tags:
        rows.add(schema.run_tags, session_id=identifier, tag=tag, created_at=started)
    rows.changed("session", identifier, started, None, "running", "run.started.ok", source="system", actor="create_session")
    if ended is not None and run.status is not None:
        rows.changed("session", identifier, ended, "running", run.status, run.reason, run.summary, actor=identifier)
    return identifier


def _columns(rows: Rows, run: Run, started: float, ended: float | None, spoke: float, messages: list[str]) -> dict[str, Any]:
    """What the row of a run says apart from its ids."""
    stamp = datetime.fromtimestamp(started, UTC).strftime("%Y%m%dT%H%M%S")
    tokens = int(run.cost * 90_000) if run.cost is not None else None
    process = {"pid": _NO_PROCESS, "pid_create_time": started - 1.5, "pid_host": run.host, "pid_boot_time": started - 30 * DAY}
    return {
        "run_id": f"{stamp}-{rows.digits(6)}",
        "created_at": started,
        "updated_at": spoke,
        "node_metadata": {"lion_class": "lionagi.session.session.Session", **process, "process_identity_mode": "local"},
        "name": "agent" if run.agent else run.kind,
        "user_label": run.label,
        "first_msg_id": messages[0] if messages and ended is not None else None,
        "last_msg_id": messages[-1] if messages and ended is not None else None,
        "playbook_name": run.playbook,
        "agent_name": run.agent,
        "invocation_kind": run.kind,
        "invocation_id": run.invocation,
        "show_topic": run.show[0] if run.show else None,
        "show_play_name": run.show[1] if run.show else None,
        "status": run.status,
        "started_at": started,
        "ended_at": ended,
        "last_message_at": spoke if messages else None,
        "current_phase": run.phase,
        "model": _MODELS[run.provider],
        "provider": run.provider,
        "project": run.project,
        "project_source": "explicit" if run.project else None,
        "status_reason_code": run.reason or None,
        "status_reason_summary": run.summary,
        "status_evidence_refs": [],
        "artifact_contract_json": None,
        "artifact_verification_json": None,
        "input_tokens": tokens,
        "output_tokens": tokens // 7 if tokens is not None else None,
        "total_cost_usd": run.cost,
        "num_turns": max(1, len(messages) // 3) if messages else None,
        "duration_ms": run.took * 1000 if run.took is not None else None,
        **run.extra,
    }


def _speak(rows: Rows, run: Run, session: str, started: float, spoke: float) -> tuple[str, list[str]]:
    """Branches, messages and the lists that order them; the run's own list and its message ids.

    Messages go to the branches in turn. The system message is linked from its branch alone, as ``li agent`` does.
    """
    branches = [(rows.uuid(), rows.uuid(), name, status) for name, status in run.branches]
    spoken: dict[str, list[str]] = {branch: [] for branch, *_ in branches}
    opening = _message(rows, branches[0][0], started, 1, {"system_message": "You work carefully and say what you did."})
    everything = []
    step = (spoke - started) / max(1, len(run.talk))
    waiting: dict[str, Any] = {}
    for number, (kind, content) in enumerate(run.talk):
        branch = branches[min(number * len(branches) // len(run.talk), len(branches) - 1)][0]
        body = dict(content)
        if kind == 4:
            waiting = {"request": rows.uuid(), "answer": rows.uuid()}
            body["action_response_id"] = waiting["answer"]
        elif kind == 5:
            body["action_request_id"] = waiting["request"]
        chosen = waiting.get("request" if kind == 4 else "answer") if kind in (4, 5) else None
        made = _message(rows, branch, started + step * (number + 1), kind, body, chosen)
        spoken[branch].append(made)
        everything.append(made)
    progression = rows.uuid()
    rows.add(schema.progressions, id=progression, created_at=started, collection=json.dumps(everything))
    for position, (branch, own, name, status) in enumerate(branches):
        rows.add(schema.progressions, id=own, created_at=started, collection=json.dumps(spoken[branch]))
        rows.add(
            schema.branches,
            id=branch,
            created_at=started + position,
            node_metadata={"lion_class": "lionagi.session.branch.Branch"},
            name=name,
            session_id=session,
            progression_id=own,
            system_msg_id=opening if position == 0 else None,
            model=_MODELS[run.provider],
            provider=run.provider,
            agent_name=run.agent,
            status=status,
            started_at=started + position if status else None,
            ended_at=spoke if status == "completed" else None,
        )
    return progression, everything


def _message(rows: Rows, branch: str, at: float, kind: int, content: dict[str, Any], chosen: str | None = None) -> str:
    identifier = chosen or rows.uuid()
    role = {1: "system", 2: "user", 3: "assistant"}.get(kind, "action")
    rows.add(
        schema.messages,
        id=identifier,
        created_at=at,
        node_metadata={"lion_class": f"lionagi.protocols.messages.{_CLASSES[kind]}"},
        content=content,
        sender="user" if kind == 2 else "system" if kind == 1 else branch,
        recipient=branch if kind in (1, 2, 5) else "user",
        role=role,
        lion_class=kind,
    )
    return identifier

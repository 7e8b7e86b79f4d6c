"""What every verb prints with ``--json``, on a home that the real package made, against the contract."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.cli.contract import read_contract
from studio_tui.cli.main import run, studio_tui
from studio_tui.cli.printed import PRINTS, verbs
from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.builders import a_run, run_sql

pytestmark = pytest.mark.interop

GRAPH = {
    "version": 1,
    "nodes": [{"id": "in", "kind": "input", "pos": {"x": 0, "y": 0}, "config": {}}],
    "edges": [],
    "inputs": [],
    "outputs": [],
}

SET = """\
apiVersion: lionagi.io/v1alpha1
kind: ScheduleSet
metadata: {name: nightly, project: web}
schedules:
  tick:
    trigger: {every: 1h}
    target: {kind: command, executable: echo, args: [hi]}
    execution: {cwd: /}
"""

_NASTY = "a\x1b]52;c;aGk=\x07[red]\u202e\x9b31m\n"


async def fill(home: Path) -> dict[str, str]:
    """What the verbs need beside what the home holds, made by the stores; the ids by name."""
    clock = SystemClock()
    folder = home / "runs" / "listening" / "artifacts"
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("# fine")
    async with StateDB(home / "state.db") as db:
        approvals = ApprovalStore(db, clock)
        poller = {"flow_control_poller": "active"}
        run_id = await a_run(
            db,
            id="listening",
            invocation_kind="flow",
            status="running",
            project="live",
            node_metadata=poller,
            artifacts_path=str(folder),
        )
        await run_sql(
            db,
            "INSERT INTO artifacts (id, session_id, kind, name, content, file_path, created_at, updated_at)"
            " VALUES ('report', 'listening', 'report', 'r', '{}', 'report.md', 1.0, 1.0)",
        )
        await run_sql(db, "UPDATE artifacts SET name = name || :name WHERE id <> 'report'", name=_NASTY)
        await run_sql(db, "UPDATE projects SET description = :text", text=_NASTY)
        await run_sql(db, "UPDATE dispatch_outbox SET last_error = :text", text=_NASTY)
        await run_sql(
            db,
            "INSERT INTO definitions (id, kind, name, path, content, version, created_at)"
            " VALUES ('half', 'agent', 'half', 'agents/half.md', 'lost', 1, 1.0)",
        )
        asked = await OutboxDeliveryStore(db, clock).enqueue(NewDispatch("k", "x", ack_required=True))
        await run_sql(db, "UPDATE dispatch_outbox SET status = 'delivering' WHERE id = :id", id=asked.dispatch_id)
        pending = [(await approvals.propose("git.push", {"n": n})).approval_id for n in range(2)]
    answer = {"message": asked.dispatch_id, "token": asked.ack_token or ""}
    return {**answer, "run": run_id, "grant": pending[0], "deny": pending[1]}


@pytest.fixture
def home(peer_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rich home, with files for the verbs, in which ``echo`` may run."""
    filled_home(peer_home, monkeypatch)
    return peer_home


def filled_home(peer_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that verbs are given, one half-finished save, and leave to run ``echo``."""
    monkeypatch.setenv("LIONAGI_SHOWS_ROOT", str(peer_home / "shows"))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo")
    monkeypatch.chdir(peer_home)
    (peer_home / "graph.json").write_text(json.dumps(GRAPH))
    (peer_home / "set.yaml").write_text(SET)
    (peer_home / "flow.yaml").write_text("prompt: go\n")
    (peer_home / "text.md").write_text("a text")
    pending = {"reconciliation_id": "abc123", "kind": "agent", "name": "half", "begun_at": 1.0, "version": 1, "reason": "full"}
    records = peer_home / "studio-tui" / "reconciliations"
    records.mkdir(parents=True)
    sha256 = hashlib.sha256(b"lost").hexdigest()
    (records / "abc123.json").write_text(json.dumps({**pending, "sha256": sha256}))


Ask = Callable[..., Any]


@pytest.fixture
def ask(home: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """``ask("runs list", …)``: the document of a verb, which must be what the contract says; the verb counts as seen."""
    document = (read_contract(Path(__file__).parent / "v1") or {})["cli.json"]

    def asked(verb: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
        place = arguments.index("--") if "--" in arguments else len(arguments)
        line = ["--home", str(home), *verb.split(), *arguments[:place], "--json", *arguments[place:]]
        ended = run(line)
        said = capsys.readouterr()
        assert ended in codes, (verb, said.err)
        found = json.loads(said.out)
        schema = {**document["schemas"][verb], "$defs": document["$defs"]}
        faults = [
            f"{list(fault.absolute_path)}: {fault.message[:300]}" for fault in Draft202012Validator(schema).iter_errors(found)
        ]
        assert not faults, (verb, faults)
        asked.seen.add(verb)  # type: ignore[attr-defined]
        if asked.aloud:  # type: ignore[attr-defined]
            assert run([word for word in line if word != "--json"]) in codes
            assert _safe(capsys.readouterr().out), verb
        return found

    asked.seen, asked.aloud = set(), False  # type: ignore[attr-defined]
    return asked


def _safe(said: str) -> bool:
    """Something was said, and none of it acts on a terminal."""
    return bool(said.strip()) and all(character == "\n" or character.isprintable() for character in said)


def test_every_verb_that_prints_a_document_is_in_the_contract_and_no_other() -> None:
    known = {
        verb
        for verb, command in verbs(studio_tui, click.Context(studio_tui))
        if any(parameter.name == "as_json" for parameter in command.params)
    }
    assert known == set(PRINTS)


def test_every_verb_prints_what_the_contract_says(home: Path, ask: Ask, tmp_path: Path) -> None:
    ids = asyncio.run(fill(home))
    ask.aloud = True  # type: ignore[attr-defined] - reading is done once more for people
    _reads(ask, ids)
    ask.aloud = False  # type: ignore[attr-defined]
    _writes(ask, ids)
    _schedules(ask)
    _upkeep(ask)
    (home / "state.db").rename(tmp_path / "away.db")
    for beside in home.glob("state.db-*"):
        beside.unlink()
    ask("init")
    assert ask.seen == set(PRINTS), sorted(set(PRINTS) - ask.seen)  # type: ignore[attr-defined]


def _first(found: Any, key: str) -> str:
    assert found["items"], found
    return str(found["items"][0][key])


def _reads(ask: Ask, ids: dict[str, str]) -> None:
    run_id = _first(ask("runs list", "--limit", "3", "--status", "failed"), "run_id")
    ask("runs show", run_id)
    ask("runs messages", run_id)
    ask("shows show", _first(ask("shows list"), "topic"))
    ask("definitions list")
    agent = next(one for one in ask("definitions list", "--kind", "agent")["items"] if one["version"])
    ask("definitions show", "agent", agent["name"])
    ask("definitions show", "agent", agent["name"], "--version", "1")
    ask("definitions versions", "agent", agent["name"])
    ask("workflows show", _first(ask("workflows list"), "name"))
    ask("artifacts list", "--limit", "2")
    ask("artifacts show", "report")
    assert ask("artifacts preview", "report")["preview"] == "IyBmaW5l"
    ask("invocations show", _first(ask("invocations list", "--limit", "5"), "invocation_id"))
    ask("engine-runs show", _first(ask("engine-runs list"), "run_id"))
    ask("engine-runs definition", _first(ask("engine-runs definitions"), "name"))
    team = _first(ask("teams list"), "team_id")
    ask("teams show", team)
    ask("teams messages", team)
    for pane in ("signals", "controls", "artifacts"):
        ask("evidence list", ids["run"], pane)
    ask("evidence follow", ids["run"])
    ask("tags list")
    ask("projects show", ask("projects list")["projects"][0]["name"])
    ask("attention history")
    ask("attention list")
    ask("approvals list")
    ask("approvals ledger", "--limit", "2")
    ask("outbox list", "--limit", "2")
    ask("outbox counts")
    for dimension in ("project", "agent", "playbook", "model"):
        ask("stats spend-by", dimension, "--window", "7d")
    ask("stats spend")
    ask("stats activity")
    ask("scheduler status")
    ask("scheduler hold", "1h")
    ask("scheduler hold", "--release")
    ask("doctor", codes=(0, 1))  # it may find this machine lacking


def _writes(ask: Ask, ids: dict[str, str]) -> None:
    run_id = ids["run"]
    assert ask("tags add", run_id, "hot")["tags"] == ["hot"]
    ask("tags of", run_id)
    ask("tags remove", run_id, "hot")
    ask("tags label", run_id, "mine")
    ask("projects create", "fresh", "--description", "new")
    ask("projects update", "fresh", "--clear", "description")
    ask("projects assign", "fresh", run_id)
    ask("attention decide", "run:r1", "snoozed", "--status", "failed", "--for", "1h")
    ask("attention show", "run:r1", "run:r2")
    ask("attention reopen", "run:r1")
    ask("approvals show", ids["grant"])
    ask("approvals grant", ids["grant"])
    ask("approvals deny", ids["deny"], "--class", "policy", "--reason", "no")
    ask("approvals verify")
    letter = _first(ask("outbox list", "--status", "dead_letter"), "dispatch_id")
    ask("outbox show", letter)
    ask("outbox retry", letter)
    ask("outbox ack", ids["message"], ids["token"])
    ask("outbox purge", "--status", "expired")
    ask("evidence send", run_id, "pause")
    ask("evidence standing", run_id)
    ask("workflows create", "made", "--file", "graph.json")
    ask("workflows update", "made", "--description", "better")
    ask("definitions save", "agent", "fresh", "--file", "text.md", "--expect", "0")
    ask("definitions rollback", "agent", "fresh", "1")
    ask("definitions snapshot", "agent", "fresh")
    (half,) = ask("definitions reconcile")["items"]
    ask("definitions reconcile", half["reconciliation_id"], "--write-file")
    assert ask("definitions show", "agent", "half")["content"] == "lost"


def _schedules(ask: Ask) -> None:
    ask("schedules show", _first(ask("schedules list"), "name"))
    every = ("--every", "1h")
    ask("schedules create command", "clock", *every, "--", "echo", "hi")
    ask("schedules create agent", "nightly", "--cron", "0 2 * * *", "--agent", "reviewer", "--prompt", "look")
    ask("schedules create flow", "walk", *every, "--file", "flow.yaml")
    ask("schedules create fanout", "wide", *every, "--model", "claude_code/haiku", "--prompt", "go")
    ask("schedules create playbook", "play", *every, "--playbook", "tidy")
    ask("schedules update", "clock", "--description", "ticks")
    ask("schedules disable", "clock")
    ask("schedules enable", "clock")
    ask("schedules fire", "clock")
    ask("schedules history", "clock")
    ask("schedules why", "clock")
    ask("schedules next", "clock")
    ask("schedules delete", "clock", "--yes")
    ask("schedules validate", "set.yaml")
    ask("schedules apply", "set.yaml", "--dry-run")
    ask("schedules apply", "set.yaml")
    assert ask("schedules export", "--set", "web/nightly")["documents"]


def _upkeep(ask: Ask) -> None:
    ask("state plan")
    ask("state migrate")
    ask("state checkpoint")
    ask("state check")
    ask("state vacuum")
    ask("state event", _first(ask("state events", "--action", "vacuum"), "event_id"))

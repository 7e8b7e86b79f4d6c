"""Definitions on disk with their history, and workflows: unchanged, edited, unknown to history, gone, unreadable."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio_tui.demo.rows import DAY, HOUR, Rows
from studio_tui.state import schema


@dataclass(frozen=True, slots=True)
class Kept:
    """A definition: its versions oldest first, and what the file holds now (``None`` for no file)."""

    kind: str
    name: str
    versions: tuple[tuple[str, str], ...]
    now: str | None

    @property
    def path(self) -> str:
        """Where its file lies, relative to the home."""
        names = {"agent": f"agents/{self.name}.md", "playbook": f"playbooks/{self.name}.playbook.yaml"}
        return names.get(self.kind, f"skills/{self.name}/SKILL.md")


def add_definitions(rows: Rows, home: Path) -> None:
    """Files, the versions that history holds of them, and workflow rows."""
    for kept in _definitions():
        for number, (text, note) in enumerate(kept.versions, start=1):
            at = rows.now - (30 - 4 * number) * DAY
            rows.add(schema.definitions, id=rows.uuid(), kind=kept.kind, name=kept.name, path=kept.path, content=text,
                     version=number, created_at=at, message=note)  # fmt: skip
        if kept.now is not None:
            _write(home / kept.path, kept.now.encode(), rows.now - (2 * HOUR if not kept.versions else 9 * DAY))
    _write(home / "agents" / "garbled.md", b"---\nmodel: sonnet\n---\nCaf\xe9 au lait.\n", rows.now - 3 * DAY)
    for number, (name, description, spec) in enumerate(_workflows()):
        at = rows.now - (12 - number) * DAY
        rows.add(schema.workflow_defs, id=rows.digits(12), name=name, description=description, spec_json=spec,
                 created_at=at, updated_at=at)  # fmt: skip


def _write(path: Path, content: bytes, at: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))


def _definitions() -> tuple[Kept, ...]:
    reviewer = [_agent("reviewer", model, "Lists what is wrong with a change.", body) for model, body in (
        ("haiku", "You review changes.\n"),
        ("sonnet", "You review changes. List defects first, each with file and line.\n"),
        ("sonnet", "You review changes. List defects first, each with file and line.\nSay nothing about style.\n"),
    )]  # fmt: skip
    implementer = _agent("implementer", "sonnet", "Writes the change and its tests.", "You write small, tested changes.\n")
    tester = _agent("tester", "haiku", "Finds the case that breaks.", "You look for inputs that nobody thought of.\n")
    release = (
        "name: release\ndescription: Prepare a release branch.\nmodel: claude_code/sonnet\nworkers: 3\n"
        "args:\n  version:\n    type: str\n    default: next\nprompt: |\n  Cut release {version}.\n"
    )
    audit = "name: audit\ndescription: Look over one service.\nmodel: claude_code/haiku\nprompt: |\n  Audit {input}.\n"
    notes = "---\nname: notes\ndescription: Take notes.\n---\nWrite short notes, newest first.\n"
    reviewed = zip(reviewer, ("first version", "another model", "less noise"), strict=True)
    return (
        Kept("agent", "reviewer", tuple(reviewed), reviewer[-1]),
        Kept("agent", "implementer", ((implementer, "first version"),), implementer + "Ask before you add a dependency.\n"),
        Kept("agent", "tester", ((tester, "first version"), (tester + "Be quick.\n", ""), (tester, "rollback to v1")), tester),
        Kept("agent", "researcher", (), _agent("researcher", "sonnet", "Finds out.", "You read before you answer.\n")),
        Kept("agent", "retired", ((_agent("retired", "haiku", "No longer used.", "You rest.\n"), "first version"),), None),
        Kept("playbook", "release", ((release, "first version"), (release + "with-synthesis: true\n", "a summary at the end")),
             release + "with-synthesis: true\n"),
        Kept("playbook", "audit", ((audit, "first version"),), audit),
        Kept("skill", "notes", ((notes, "first version"),), notes),
        Kept("skill", "changelog", (), "---\nname: changelog\ndescription: Keep the changelog.\n---\nOne line a change.\n"),
    )  # fmt: skip


def _agent(name: str, model: str, description: str, body: str) -> str:
    return f"---\nname: {name}\nprovider: claude_code\nmodel: {model}\ndescription: {description}\n---\n{body}"


def _workflows() -> tuple[tuple[str, str, dict[str, Any]], ...]:
    start = {"id": "start", "kind": "input", "label": "Topic", "pos": {"x": 0, "y": 0}, "config": {}}
    draft = {"id": "draft", "kind": "chat", "label": "Draft", "pos": {"x": 200, "y": 0}, "config": {"prompt": "Draft {topic}."}}
    check = {"id": "check", "kind": "chat", "label": "Check", "pos": {"x": 400, "y": 0}, "config": {"prompt": "Check {draft}."}}
    first, second = {"id": "e1", "from": "start", "to": "draft"}, {"id": "e2", "from": "draft", "to": "check"}
    ends = {"inputs": ["topic"], "outputs": ["draft"]}
    return (
        ("draft-and-check", "Two steps, the second reads the first.",
         {"version": 1, "nodes": [start, draft, check], "edges": [first, second], **ends, "outputs": ["check"]}),
        ("one-question", "A single answer.", {"version": 1, "nodes": [start, draft], "edges": [first], **ends}),
    )  # fmt: skip

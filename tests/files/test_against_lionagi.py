"""What the real lionagi lists, looks up and imports from the same folders."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from studio_tui.domain.shows import PlayRecord, ShowRecord
from studio_tui.files.definitions import DefinitionFiles
from studio_tui.files.roots import Roots
from studio_tui.files.shows import ShowFiles

pytestmark = pytest.mark.interop
Put = Callable[..., Path]

_DEFINITIONS = """
import asyncio, json, sys
from lionagi.studio.services import definitions, skills
async def main():
    listed = [[one["kind"], one["name"]] for one in await definitions.list_definitions()]
    paths = {}
    for kind, name in json.loads(sys.argv[1]):
        found = await definitions.get_definition(kind, name)
        paths[f"{kind} {name}"] = found and found["path"].split("/", 1)[1]
    known = [[one["name"], one["description"]] for one in skills.list_skills()]
    print(json.dumps({"listed": listed, "paths": paths, "skills": known}))
asyncio.run(main())
"""

_IMPORT = """
import asyncio
from lionagi.studio.services.shows import import_shows
print(asyncio.run(import_shows()))
"""


def _peer(roots: Roots, program: str, *arguments: str) -> str:
    environment = {**os.environ, "LIONAGI_HOME": str(roots.agents.parent), "LIONAGI_SHOWS_ROOT": str(roots.shows)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


async def test_definitions_are_those_that_lionagi_lists_and_finds(roots: Roots, put: Put) -> None:
    agent = "---\nname: {}\ndescription: About.\n---\n"
    for name in ("flat.md", "flat.yaml", "both.md", "both/both.md", "deep/deep.md", "deep/aaa.md", "team/lead.md", "team/zoe.md",
                 "mix/a.yaml", "mix/b.md", "x/er/lost.md", "far/other.md"):  # fmt: skip
        put(f"agents/{name}", agent.format("x"))
    for name in ("p.playbook.yaml", "p.yaml", "q/q.playbook.yaml", "r/z.playbook.yaml", "r/a.yaml"):
        put(f"playbooks/{name}", "description: x\n")
    for name in ("one/SKILL.md", "two/two.md", "three.md", "_four/SKILL.md", "five/readme.txt"):
        put(f"skills/{name}", agent.format(name.split("/")[0].removesuffix(".md")))
    asked = [["agent", name] for name in ("flat", "both", "deep", "team", "lead", "mix", "lost", "other", "none")]
    asked += [["playbook", name] for name in ("p", "q", "r", "z", "a")]

    theirs = json.loads(_peer(roots, _DEFINITIONS, json.dumps(asked)))

    files = DefinitionFiles(roots)
    ours = await files.list_definitions()
    assert sorted((one.kind, one.name) for one in ours if one.kind != "skill") == sorted(map(tuple, theirs["listed"]))
    assert [[one.name, one.description] for one in ours if one.kind == "skill"] == theirs["skills"]
    found = {f"{kind} {name}": await files.read_definition(kind, name) for kind, name in asked}
    assert {key: one and one.relative_path for key, one in found.items()} == theirs["paths"]


def _imported(home: Path) -> dict[str, dict[str, Any]]:
    with sqlite3.connect(home / "state.db") as connection:
        connection.row_factory = sqlite3.Row
        shows = {row["topic"]: dict(row) for row in connection.execute("SELECT * FROM shows")}
        for show in shows.values():
            rows = connection.execute("SELECT * FROM plays WHERE show_id = ? ORDER BY sort_order", (show["id"],))
            show["plays"] = [dict(row) for row in rows]
    connection.close()
    return shows


def _as_imported(show: ShowRecord) -> dict[str, Any]:
    return {
        "status": show.status,
        "goal": show.goal,
        "repo": show.repo,
        "base_branch": show.base_branch,
        "integration_branch": show.integration_branch,
        "show_dir": show.show_dir,
    }


def _play_as_imported(play: PlayRecord) -> dict[str, Any]:
    """With what an import makes of the unknown: a play without a word is pending, at its first attempt."""
    return {
        "name": play.name,
        "status": play.status or "pending",
        "attempt": play.attempt or 1,
        "started_at": play.started_at,
        "ended_at": play.ended_at,
        "exit_code": play.exit_code,
        "worktree": play.worktree,
        "branch": play.branch,
        "merge_sha": play.merge_sha,
        "merged_at": play.merged_at,
        "gate_passed": play.gate_passed,
        "gate_feedback": play.gate_feedback or "",
        "sort_order": play.sort_order,
    }


async def test_shows_are_what_lionagi_imports(peer_home: Path, tmp_path: Path) -> None:
    roots = Roots.of(tmp_path / "fresh", peer_home / "shows")
    roots.agents.parent.mkdir()
    _peer(roots, _IMPORT)
    theirs = _imported(roots.agents.parent)

    ours = {show.topic: show for show in await ShowFiles(roots).list_shows()}

    assert set(ours) == set(theirs)
    assert sum(len(show.plays) for show in ours.values()) >= 15
    reasons: list[tuple[str | None, str | None]] = []
    for topic, show in ours.items():
        row, expected = theirs[topic], _as_imported(show)
        assert {key: row[key] for key in expected} == expected
        assert len(row["plays"]) == len(show.plays)
        for stored, play in zip(row["plays"], show.plays, strict=True):
            stored["gate_feedback"] = stored["gate_feedback"] or ""
            wanted = _play_as_imported(play)
            assert {key: stored[key] for key in wanted} == wanted
            if play.reason_code is not None:
                reasons.append((stored["status_reason_code"], play.reason_code))
    assert len(reasons) >= 4
    assert all(stored == said for stored, said in reasons)


async def test_definitions_of_a_home_of_lionagi(peer_home: Path) -> None:
    found = await DefinitionFiles(Roots.of(peer_home, peer_home / "shows")).list_definitions()
    assert {(one.kind, one.name): one.error for one in found if one.error} == {
        ("skill", "broken"): "line 2: while parsing a flow sequence: the end is missing"
    }
    assert [one.name for one in found if one.kind == "agent"] == [
        "default", "implementer", "orchestrator", "researcher", "reviewer", "security",
    ]  # fmt: skip
    assert [one.name for one in found if one.kind == "playbook"] == ["audit", "pipeline", "release"]
    assert [one.name for one in found if one.kind == "skill"] == ["bisect", "broken", "changelog", "triage"]
    assert all(one.description for one in found if not one.error)

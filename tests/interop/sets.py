"""A project with agents, flows and documents of sets, and both programs at work on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lionagi.state.db import StateDB as PeerDB
from lionagi.studio.services import schedule_declaration as peer

from studio_tui.application.models.schedule_sets import ApplySet, PlanSet, SetPlan, ValidSet
from tests.application.home import OpenHome
from tests.state.files import make_native_file

ALLOWED: Final = "date,echo,git"

PROFILES: Final = {
    "reviewer": "---\nname: reviewer\nmodel: claude-code/opus\neffort: high\nrole: critic\nyolo: yes\n---\nReview.\n",
    "bare": "Only a prompt.\n",
    "late_night": "\ufeff---\nmodel: codex/o4\nfast_mode: on\nseen: 2026-01-02\n---\n",
}
FLOW: Final = "prompt: Collect the news, # and all\nworkers: 3\n"


MEMBERS: Final = """\
apiVersion: lionagi.io/v1alpha1
kind: ScheduleSet
metadata:
  name: nightly
  project: atlas
schedules:
  clock:
    description: tells the time
    trigger: {every: 15m}
    target: {kind: command, executable: date, args: [-u, "{{fired_at}}", "häß 🙂"]}
    notify:
      on: [failed, timed_out]
      command: notify-send "it failed"
  odd-spelling:
    trigger: {every: " 90s "}
    target: {kind: command, executable: echo}
    enabled: off
    policies: &limits
      {missedFire: run_once, maxRuns: 1_0, budget: {usd: 5, tokens: 0x10}, rateLimit: {max_fires: 2, window_sec: 1:00}}
  weekdays:
    trigger:
      cron: {expression: "*/5 9-17 * * mon-fri", timezone: Europe/Berlin}
    target: {kind: agent, profile: reviewer, prompt: "Look at {{date}}\\nand say so"}
    policies:
      <<: *limits
      overlap: allow
      budget: {usd: 0.25}
  own-model:
    trigger: {cron: {expression: "@daily", timezone: UTC}}
    target: {kind: agent, profile: bare, model: "openai:gpt-5", prompt: go}
    execution: {project: null}
  other-spelling:
    trigger: {every: 2d}
    target: {kind: agent, profile: late-night, prompt: "no"}
    execution: {project: other, cwd: sub}
  once:
    trigger: {at: "2031-07-15T09:00:00.25-04:00"}
    target: {kind: playbook, name: report, args: {top_k: 5, deep: yes, share: .5, late: "on", big: 1e3, octal: 010}}
  past:
    trigger: {at: "2001-01-01t00:00:00Z"}
    target: {kind: command, executable: date}
  merged:
    trigger: {github: {repo: octo/cat, filter: {event: pr_merged, base: main, draft: false, same_repo_only: true}}}
    target: {kind: command, executable: git, args: ["--version"]}
    execution: {project: ""}
  empty-filter:
    trigger: {github: {repo: octo/cat, filter: {}}}
    target: {kind: command, executable: git}
  flows:
    trigger: {every: 30d}
    target: {kind: flow, file: flows/news.yaml}
    execution: {cwd: .}
"""
"""One member of every kind, spelt in odd ways that mean the same to both programs."""

OWN: Final = ("id", "created_at", "updated_at", "next_fire_at")
"""Columns in which two applications of one document may differ. The peer leaves the first instant to its daemon."""


@dataclass
class Project:
    """A folder that is a git work tree, with a user who has profiles."""

    folder: Path
    user: Path

    @classmethod
    def make(cls, base: Path) -> Project:
        project = cls(base / "atlas", base / "user")
        (project.folder / ".git").mkdir(parents=True)
        (project.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        for part in ("objects", "refs"):
            (project.folder / ".git" / part).mkdir()
        (project.sets / "sub").mkdir(parents=True)
        (project.sets / "flows").mkdir()
        (project.sets / "flows" / "news.yaml").write_text(FLOW)
        agents = project.user / ".lionagi" / "agents"
        agents.mkdir(parents=True)
        for name, text in PROFILES.items():
            (agents / f"{name}.md").write_text(text)
        return project

    @property
    def sets(self) -> Path:
        """Where documents lie: below the root, so that the root has to be found."""
        return self.folder / "ops"

    def write(self, text: str, name: str = "set.yaml") -> Path:
        """A document."""
        path = self.sets / name
        path.write_text(text)
        return path


class Stores:
    """Stores in which one or the other program applies documents, and what stands in them afterwards."""

    def __init__(self, base: Path) -> None:
        self._base = base

    def make(self, name: str) -> Path:
        """A home with a new store."""
        home = self._base / name
        home.mkdir()
        make_native_file(home / "state.db")
        return home

    @staticmethod
    def rows(home: Path, table: str = "schedules", order: str = "name") -> list[dict[str, Any]]:
        """Rows as they are stored."""
        with closing(sqlite3.connect(home / "state.db")) as store:
            store.row_factory = sqlite3.Row
            return [dict(row) for row in store.execute(f"SELECT * FROM {table} ORDER BY {order}")]


async def ours(home: Path, command: ApplySet | PlanSet) -> SetPlan:
    """What we make of a document on the store of this home."""
    opened = OpenHome(home)
    await opened.open()
    try:
        sets = opened.studio.schedule_sets
        return await (sets.apply_set(command) if isinstance(command, ApplySet) else sets.plan_set(command))
    finally:
        await opened.close()


async def our_valid(home: Path, file: Path) -> ValidSet:
    """What the members of a document come to with us."""
    opened = OpenHome(home)
    await opened.open()
    try:
        return await opened.studio.schedule_sets.validate_set(str(file))
    finally:
        await opened.close()


def their_members(file: Path) -> dict[str, Any]:
    """What the members of a document come to with the peer."""
    return peer.resolve_schedule_set(peer.parse_schedule_set(file.read_text(encoding="utf-8")), file.parent)


async def theirs(home: Path, file: Path, *, adopt: bool = False, dry_run: bool = False) -> dict[str, str]:
    """What the peer makes of a document: the action for each name, in small letters."""
    document = peer.parse_schedule_set(file.read_text(encoding="utf-8"))
    async with PeerDB(home / "state.db") as db:
        if dry_run:
            plan, _ = await peer.build_plan(db, document, file.parent, adopt=adopt)
        else:
            plan = (await peer.apply_schedule_set(db, document, file.parent, adopt=adopt)).plan
    return {entry.qualified_name: entry.action.lower() for entry in plan}


def actions(plan: SetPlan) -> dict[str, str]:
    """The action for each name."""
    return {entry.name: entry.action for entry in plan.entries}

"""Shows with a play in every status, on disk and in the store, and shows that only one of the two knows."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from studio_tui.demo.rows import DAY, HOUR, Rows
from studio_tui.state import schema

_REASONS: Final = {
    "pending": "play.pending.waiting_on_deps",
    "merged": "play.merged.ok",
    "gate_failed": "play.gate_failed.verdict",
    "escalated": "play.escalated.gate_twice",
    "blocked": "play.blocked.dep_failed",
}
_NOT_STARTED: Final = frozenset({"pending", "prepared", "blocked"})
_OVER: Final = frozenset({"running_complete", "gated", "gate_failed", "merged", "escalated", "aborted_after_finish"})


@dataclass(frozen=True, slots=True)
class Play:
    """A play to make; ``verdict`` is what its gate said and ``waits_for`` names other plays."""

    name: str
    status: str
    verdict: tuple[bool, str] | None = None
    attempt: int = 1
    waits_for: tuple[str, ...] = ()


_ATLAS: Final = (
    Play("parser", "merged", (True, "fine")),
    Play("lexer", "merged", (True, "second try holds"), 2, ("parser",)),
    Play("docs", "running", None, 1, ("parser",)),
    Play("index", "running_complete", None, 1, ("lexer",)),
    Play("search", "gated", (False, "two routes have no test"), 1, ("lexer",)),
    Play("bench", "gate_failed", (False, "slower than before")),
    Play("wiring", "redoing", (False, "the old name is still exported"), 2),
    Play("cleanup", "escalated", (False, "gate said no twice"), 2),
    Play("migrate", "blocked", None, 1, ("bench",)),
    Play("notes", "pending", None, 1, ("docs", "search")),
    Play("polish", "prepared"),
    Play("old-flags", "aborted_after_finish"),
)


def add_shows(rows: Rows, root: Path) -> None:
    """Every show of the demo under the shows root and in the store."""
    ready = (Play("ui", "merged", (True, "fine")), Play("api", "merged", (True, "fine")))
    half = (Play("probe", "merged", (True, "fine")), Play("evict", "aborted_after_finish"))
    _show(rows, root, "atlas-v2", "Ship version two of atlas.", "active", _ATLAS, 2 * DAY)
    _show(rows, root, "beacon-ui", "A new face for beacon.", "completed", ready, 6 * DAY)
    _show(rows, root, "cobalt-cache", "Make the cache forget less.", "aborted", half, 9 * DAY)
    _write(root / "beacon-ui" / "_final_verdict.json", json.dumps({"show_passed": True}))
    _write(root / "cobalt-cache" / "_ABORT", "")
    _store(
        rows,
        root,
        "legacy-port",
        "Move off the old runner.",
        "imported",
        (Play("inventory", "merged", (True, "fine")),),
        20 * DAY,
    )
    _disk(rows, root, "fresh-idea", "See whether it is worth it.", (Play("sketch", "running"),), 5 * HOUR)
    _write(root / "fresh-idea" / "measure" / "_meta.json", '{"status": "runn')
    _age(root / "beacon-ui", rows.now - 4 * DAY)
    _age(root / "cobalt-cache", rows.now - 8 * DAY)


def _show(rows: Rows, root: Path, topic: str, goal: str, status: str, plays: tuple[Play, ...], age: float) -> None:
    _store(rows, root, topic, goal, status, plays, age)
    _disk(rows, root, topic, goal, plays, age)


def _store(rows: Rows, root: Path, topic: str, goal: str, status: str, plays: tuple[Play, ...], age: float) -> None:
    identifier, created = rows.uuid(), rows.now - age
    reason = {"imported": "legacy.imported", "completed": "show.completed.final_gate", "aborted": "show.aborted.operator"}
    code = reason.get(status, "show.active.created")
    rows.add(schema.shows, id=identifier, topic=topic, goal=goal, repo=f"example/{topic}", base_branch="main",
             integration_branch=f"show/{topic}", status=status, show_dir=str(root / topic), created_at=created,
             updated_at=created + age / 2, status_reason_code=code, status_reason_summary="",
             status_evidence_refs=[])  # fmt: skip
    born = "imported" if status == "imported" else "active"
    opening = "legacy.imported" if born == "imported" else "show.active.created"
    rows.changed("show", identifier, created, None, born, opening, source="system", actor="create_show")
    if status != born:
        rows.changed("show", identifier, created + age / 2, born, status, code, source="system", actor="shows_import")
    for order, play in enumerate(plays):
        _play(rows, identifier, topic, play, order, created)


def _play(rows: Rows, show: str, topic: str, play: Play, order: int, created: float) -> None:
    identifier, at = rows.uuid(), created + 600 * order
    started, ended = _times(play, created, order)
    code = _REASONS.get(play.status, "run.started.ok")
    summary = play.verdict[1] if play.verdict else ""
    rows.add(schema.plays, id=identifier, show_id=show, name=play.name, playbook="release", status=play.status,
             attempt=play.attempt, started_at=started, ended_at=ended, exit_code=0 if ended else None,
             branch=f"play/{topic}/{play.name}", merge_sha=rows.digits(8) if play.status == "merged" else None,
             merged_at=ended if play.status == "merged" else None,
             gate_passed=int(play.verdict[0]) if play.verdict else None, gate_feedback=summary or None,
             depends_on=list(play.waits_for), sort_order=order, created_at=at, updated_at=ended or started or at,
             status_reason_code=code, status_reason_summary=summary, status_evidence_refs=[])  # fmt: skip
    rows.changed("play", identifier, at, None, "pending", "play.pending.created", source="system", actor="create_play")
    if play.status != "pending":
        rows.changed("play", identifier, ended or started or at, "pending", play.status, code, summary, source="system")


def _disk(rows: Rows, root: Path, topic: str, goal: str, plays: tuple[Play, ...], age: float) -> None:
    names = "\n".join(f"- {play.name}" for play in plays)
    head = f"- Repo: example/{topic}\n- Integration branch: show/{topic} (from main)\n- Base for final merge: main\n"
    _write(root / topic / "_show.md", f"# {topic}\n\n{head}\n## Goal\n\n{goal}\n\n## Plays\n\n{names}\n")
    for order, play in enumerate(plays):
        folder = root / topic / play.name
        _write(folder / "_meta.json", json.dumps(_meta(topic, play, rows.now - age, order), indent=1))
        _write(folder / "_intent.md", f"# Intent: {play.name}\n\nThe part of {topic} that concerns {play.name}.\n")
        if play.verdict is not None:
            _write(folder / "_verdict.json", json.dumps({"gate_passed": play.verdict[0], "feedback": play.verdict[1]}))
    _age(root / topic, rows.now - age / 3)


def _meta(topic: str, play: Play, created: float, order: int) -> dict[str, Any]:
    started, ended = _times(play, created, order)
    times = {
        name: datetime.fromtimestamp(at, UTC).isoformat() for name, at in (("started_at", started), ("ended_at", ended)) if at
    }
    meta: dict[str, Any] = {"status": play.status, "attempt": play.attempt, "branch": f"play/{topic}/{play.name}", **times}
    if play.status == "gated":
        meta["attention_opt_in"] = True
    if play.status == "blocked":
        meta["block_reason"] = "dep_failed"
    return meta


def _times(play: Play, created: float, order: int) -> tuple[float | None, float | None]:
    if play.status in _NOT_STARTED:
        return None, None
    started = created + 1800 * (order + 1)
    return started, started + 1400 if play.status in _OVER else None


def _age(folder: Path, at: float) -> None:
    """Date everything in a folder, and the folder, to an instant."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (at, at))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

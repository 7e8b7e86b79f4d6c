"""What the documents of a show say, by the rules of lionagi 0.36 (facts 9). Pure: text and parsed JSON in, values out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final

_GOAL_LENGTH: Final = 500
_TEXT_LENGTH: Final = 16 * 1024
_MAX_SECONDS: Final = 1e11
_BLOCK_REASONS: Final = frozenset({"invalid_deps", "dep_failed"})


@dataclass(frozen=True, slots=True)
class ShowHead:
    """What ``_show.md`` says."""

    goal: str | None = None
    repo: str | None = None
    base_branch: str | None = None
    integration_branch: str | None = None


def show_head(document: str) -> ShowHead:
    """Goal, repository and branches of a ``_show.md`` whose line ends are ``\\n``."""
    said: dict[str, str] = {}
    lines = document.split("\n")
    for line in lines:
        key, colon, value = line.strip().partition(":")
        if colon and key.startswith("- "):
            said[key[2:]] = value.strip()
    integration = said.get("Integration branch", said.get("Integration", "")).split("(")[0].strip()
    base = said.get("Base for final merge", said.get("Base", ""))
    return ShowHead(
        goal=_section(lines, "## Goal")[:_GOAL_LENGTH] or None,
        repo=said.get("Repo") or None,
        base_branch=base or None,
        integration_branch=integration or None,
    )


def _section(lines: Sequence[str], heading: str) -> str:
    """The text under a heading, up to the next one of its level; empty when there is none."""
    start = next((number for number, line in enumerate(lines, 1) if line.rstrip() == heading), len(lines))
    body = takewhile(lambda line: not line.startswith("## "), lines[start:])
    return "\n".join(body).strip()


def show_status(statuses: Sequence[str | None], *, aborted: bool, passed: bool) -> str:
    """The status that an import gives a show: by its marker files first, then by its plays."""
    if aborted:
        return "aborted"
    if passed:
        return "completed"
    merged = bool(statuses) and all(status == "merged" for status in statuses)
    return "completed" if merged else "active"


def play_reason(status: str | None, meta: Mapping[str, object], *, gate_passed: bool | None) -> str | None:
    """The reason code that an import gives a play of this status."""
    if status == "blocked":
        reason = block_reason(meta)
        return f"play.blocked.{reason}" if reason in _BLOCK_REASONS else None
    if status == "gate_failed" and gate_passed is False:
        return "play.gate_failed.verdict"
    if status == "escalated" and (number(meta.get("attempt")) or 0) >= 2:
        return "play.escalated.gate_twice"
    return "play.merged.ok" if status == "merged" else None


def block_reason(meta: Mapping[str, object]) -> str | None:
    """Why a play is blocked, in the runner's word."""
    return text(meta.get("block_reason")) or text(meta.get("blocked_reason"))


def epoch(value: object) -> float | None:
    """A time in epoch seconds from a number or an ISO text; text without a zone is UTC. ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    except ValueError:
        seconds = _iso(str(value))
    return seconds if math.isfinite(seconds) and abs(seconds) < _MAX_SECONDS else None


def _iso(value: str) -> float:
    """Epoch seconds, or NaN for what is no time."""
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def number(value: object) -> int | None:
    """A whole number, and nothing that merely looks like one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


def text(value: object) -> str | None:
    """Text that is not empty, cut at 16 KiB. JSON can spell halves of characters, which no encoding takes: they are replaced."""
    if not isinstance(value, str) or not value:
        return None
    return value[:_TEXT_LENGTH].encode("utf-8", "replace").decode("utf-8")

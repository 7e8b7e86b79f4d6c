"""One play from what the store and the disk each know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.shows import PlayView, Source
from studio_tui.application.moments import Times, elapsed
from studio_tui.domain.health import play_state
from studio_tui.domain.reasons import REASON_WORDS, reason_words
from studio_tui.domain.shows import PlayRecord

LiveState = Literal["available", "unavailable", "not_on_disk"]

_GROUPS: Final = {
    "status": ("status",),
    "attempt": ("attempt",),
    "times": ("started_at", "ended_at"),
    "gate": ("gate_passed", "gate_feedback"),
    "worktree": ("worktree", "branch"),
    "merge": ("merge_sha", "merged_at"),
    "session": ("session_id",),
}
"""Fields that one source tells together: a group is the disk's as soon as the disk knows one of its fields."""

_COMPARED: Final = ("status", "attempt", "session_id", "branch", "worktree", "merge_sha", "exit_code")


@dataclass(frozen=True, slots=True)
class Absent:
    """What it means that the disk does not have a play, and the words for it."""

    state: LiveState
    error: str | None = None


NOT_ON_DISK: Final = Absent("not_on_disk")
DIRECTORY_GONE: Final = Absent("unavailable", "its directory is gone")


def play_view(store: PlayRecord | None, disk: PlayRecord | None, *, absent: Absent, now: float) -> PlayView:
    """The play as it is shown. ``absent`` says what it means when the disk does not have it."""
    live_state, live_error = _live(disk, absent)
    readable = disk if live_state == "available" else None
    fields, sources = _merged(store, readable)
    # A play that only the disk knows and that has no metadata yet is pending (lionagi 0.36).
    status = fields["status"] or ("pending" if store is None and readable is not None else None)
    times = Times()
    started, ended = times.read("started_at", fields["started_at"]), times.read("ended_at", fields["ended_at"])
    opted_in = any(record.attention_opt_in for record in (store, readable) if record)
    known = readable or store or disk
    return PlayView(
        name=known.name if known else "",
        state=StateWord.UNKNOWN if live_state == "unavailable" else play_state(status),
        status=status,
        source=_source(store, disk),
        live_state=live_state,
        live_error=live_error,
        attempt=fields["attempt"],
        session_id=fields["session_id"],
        started_at=started,
        ended_at=ended,
        duration=elapsed(started, ended if ended is not None or status not in ("running", "redoing") else now),
        gate=_gate(fields["gate_passed"]),
        gate_feedback=fields["gate_feedback"],
        needs_person=live_state == "unavailable" or needs_person(status, fields["gate_passed"], opted_in=opted_in),
        branch=fields["branch"],
        worktree=fields["worktree"],
        merge_sha=fields["merge_sha"],
        depends_on=(readable.depends_on if readable else ()) or (store.depends_on if store else ()),
        reason=live_error or _reason(store, readable),
        differences=_differences(store, readable),
        sources=sources,
    )


def needs_person(status: str | None, gate_passed: bool | None, *, opted_in: bool) -> bool:
    """Whether a play waits for a person.

    One that failed its gate or was escalated always does; a gated one if its verdict says no or if it asked for attention
    (lionagi 0.36, gated queue). Asking has no effect in any other status.
    """
    if status in ("gate_failed", "escalated"):
        return True
    return status == "gated" and (gate_passed is False or opted_in)


def _live(disk: PlayRecord | None, absent: Absent) -> tuple[LiveState, str | None]:
    """Whether the disk tells how the play stands; an error beside a status speaks of its verdict only."""
    if disk is None:
        return absent.state, absent.error
    return ("unavailable" if disk.error is not None and disk.status is None else "available"), disk.error


def _merged(store: PlayRecord | None, disk: PlayRecord | None) -> tuple[dict[str, Any], dict[str, Source]]:
    """The fields of each group from the source that has them, and which one that is."""
    fields: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for group, names in _GROUPS.items():
        by_disk = {name: getattr(disk, name) for name in names} if disk else dict.fromkeys(names)
        by_store = {name: getattr(store, name) for name in names} if store else dict.fromkeys(names)
        told_by_disk = any(value is not None for value in by_disk.values())
        fields |= by_disk if told_by_disk else by_store
        if told_by_disk:
            sources[group] = "both" if by_disk == by_store else "disk"
        elif any(value is not None for value in by_store.values()):
            sources[group] = "store"
    return fields, sources


def _source(store: PlayRecord | None, disk: PlayRecord | None) -> Source:
    if store is not None and disk is not None:
        return "both"
    return "store" if store is not None else "disk"


def _gate(passed: bool | None) -> str | None:
    return None if passed is None else "passed" if passed else "failed"


def _reason(store: PlayRecord | None, disk: PlayRecord | None) -> str:
    """Why the play is what it is; the store's reason counts only while the disk tells no other status."""
    if disk is not None and (told := _noted(disk)):
        return told
    if store is None or (disk is not None and disk.status not in (None, store.status)):
        return ""
    return _noted(store)


def _noted(play: PlayRecord) -> str:
    """The reason of one side. An import notes only ``name: status``; the disk names what blocks by the end of its code."""
    summary = play.reason_summary
    if summary == f"{play.name}: {play.status}":
        summary = None
    blocked_by = f"play.blocked.{summary}"
    if blocked_by in REASON_WORDS:
        return REASON_WORDS[blocked_by]
    # The reason of a pending play stays on the row when it starts: other statuses have none of their own.
    outlived = play.status != "pending" and (play.reason_code or "").startswith("play.pending.")
    return reason_words(None if outlived else play.reason_code, summary, play.status)


def _differences(store: PlayRecord | None, disk: PlayRecord | None) -> tuple[str, ...]:
    if store is None or disk is None:
        return ()
    return tuple(
        f"{field.replace('_', ' ')}: store says {stored}, disk says {live}"
        for field in _COMPARED
        if (stored := getattr(store, field)) is not None and (live := getattr(disk, field)) is not None and stored != live
    )

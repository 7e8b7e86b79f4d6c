"""Store and disk merged into one view of a show, each field with its source (lionagi 0.36, shows).

The plays table is a one-time import: live truth is the disk, play by play. A play that the store knows and whose directory or
metadata cannot be read is unavailable, which is never the same as not started.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.shows import PlayView, ShowSummary, Source
from studio_tui.application.moments import Times
from studio_tui.application.play_views import DIRECTORY_GONE, NOT_ON_DISK, Absent, play_view
from studio_tui.domain.health import show_state
from studio_tui.domain.shows import PlayRecord, ShowRecord

ACTIVE: Final = ("running", "redoing", "running_complete", "prepared")
"""Statuses of a play that is being worked on, the most telling first."""


@dataclass(frozen=True, slots=True)
class Sides:
    """One show as the store and as the disk know it; at least one of them does."""

    store: ShowRecord | None
    disk: ShowRecord | None

    @property
    def source(self) -> Source:
        """Who knows the show."""
        if self.store is not None and self.disk is not None:
            return "both"
        return "store" if self.store is not None else "disk"

    @property
    def known(self) -> tuple[ShowRecord, ...]:
        """The records there are, the disk's first."""
        return tuple(record for record in (self.disk, self.store) if record is not None)

    def first(self, field: str) -> Any:
        """The disk's value of a field, or the store's where the disk has none."""
        return next((value for record in self.known if (value := getattr(record, field)) not in (None, "")), None)


def paired(store: Iterable[ShowRecord], disk: Iterable[ShowRecord]) -> tuple[Sides, ...]:
    """The shows of both sides by topic."""
    stored = {show.topic: show for show in store}
    on_disk = {show.topic: show for show in disk}
    return tuple(Sides(stored.get(topic), on_disk.get(topic)) for topic in sorted({*stored, *on_disk}))


def plays_of(sides: Sides, *, now: float) -> tuple[PlayView, ...]:
    """The plays of both sides, in the store's order, then the disk's."""
    stored = {play.name: play for play in sides.store.plays} if sides.store else {}
    on_disk = {play.name: play for play in sides.disk.plays} if sides.disk else {}
    names = sorted({*stored, *on_disk}, key=_place(stored, list(on_disk)))
    absent = _absent(sides.disk)
    return tuple(play_view(stored.get(name), on_disk.get(name), absent=absent, now=now) for name in names)


def show_fields(sides: Sides, plays: Sequence[PlayView], *, trouble: str | None) -> dict[str, Any]:
    """The fields of :class:`ShowSummary`. ``trouble`` says why one side could not be asked at all."""
    times = Times()
    status = sides.first("status")
    active = min(
        (play for play in plays if play.status in ACTIVE), key=lambda play: ACTIVE.index(play.status or ""), default=None
    )
    errors = [error for record in sides.known if (error := record.error)]
    return {
        "topic": sides.known[0].topic,
        "state": StateWord.UNKNOWN if _unreadable(sides.disk) else show_state(status),
        "status": status,
        "source": sides.source,
        "goal": sides.first("goal"),
        "repo": sides.first("repo"),
        "plays_total": len(plays),
        "plays_merged": sum(play.status == "merged" for play in plays),
        "gated": sum(play.needs_person for play in plays),
        "active_play": active.name if active else None,
        "created_at": times.read("created_at", _earliest(sides, "created_at")),
        "updated_at": times.read("updated_at", _latest(sides, "updated_at")),
        "problem": "; ".join([*errors, *([trouble] if trouble else []), *times.problems]) or None,
        "differences": _differences(sides),
    }


def summarize(sides: Sides, *, now: float, trouble: str | None = None) -> ShowSummary:
    """One show as a list shows it."""
    return ShowSummary.model_validate(show_fields(sides, plays_of(sides, now=now), trouble=trouble))


def _absent(disk: ShowRecord | None) -> Absent:
    """What it means that a play is not among the disk's."""
    if disk is None:
        return NOT_ON_DISK
    return Absent("unavailable", disk.error) if disk.error and not disk.plays else DIRECTORY_GONE


def _unreadable(disk: ShowRecord | None) -> bool:
    """Whether the show's directory could not be read at all; an error beside a status speaks of a document."""
    return disk is not None and disk.error is not None and disk.status is None


def _place(stored: dict[str, PlayRecord], on_disk: list[str]) -> Any:
    positions = {name: position for position, name in enumerate(on_disk)}

    def key(name: str) -> tuple[int, int, str]:
        play = stored.get(name)
        return (0, play.sort_order, name) if play else (1, positions.get(name, 0), name)

    return key


def _differences(sides: Sides) -> tuple[str, ...]:
    if sides.store is None or sides.disk is None:
        return ()
    return tuple(
        f"{field.replace('_', ' ')}: store says {theirs}, disk says {ours}"
        for field in ("status", "repo", "base_branch", "integration_branch")
        if (theirs := getattr(sides.store, field)) and (ours := getattr(sides.disk, field)) and theirs != ours
    )


def _earliest(sides: Sides, field: str) -> float | None:
    return min((value for record in sides.known if (value := getattr(record, field)) is not None), default=None)


def _latest(sides: Sides, field: str) -> float | None:
    return max((value for record in sides.known if (value := getattr(record, field)) is not None), default=None)

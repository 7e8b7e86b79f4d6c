"""Shows: how far each is, what waits for a person, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on

from studio_tui.application.models.shows import ShowSummary
from studio_tui.tui import format as fmt
from studio_tui.tui.screens.browse import BrowseScreen
from studio_tui.tui.screens.show import ShowScreen
from studio_tui.tui.statuses import STATE_WIDTH, Span, state_cell
from studio_tui.tui.widgets.columns import Cell, Column
from studio_tui.tui.widgets.facts import fact, heading, wrapped
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.virtual_list import VirtualList

_BAR = 10


def progress_cell(merged: int, total: int) -> Cell:
    """A bar of ten cells and the figures; never past its end, whatever the store says."""
    if total <= 0:
        return ("no plays", "faint")
    full = min(_BAR, round(_BAR * min(merged, total) / total))
    return (("█" * full, "ok"), ("░" * (_BAR - full), "faint"), (f" {merged}/{total}", "ink"))


class ShowsScreen(BrowseScreen[ShowSummary]):
    """All shows of store and disk."""

    LIST: ClassVar[str] = "shows"
    NOUN: ClassVar[tuple[str, str]] = ("show", "shows")
    TOPICS = frozenset({"store", "shows"})

    def columns(self) -> Sequence[Column[ShowSummary]]:
        """State, topic, progress, what waits, what moves."""
        return (
            Column("state", lambda row: state_cell(row.state, self.studio_app.ascii), STATE_WIDTH),
            Column("show", lambda row: (row.topic, "ink"), 18, max_width=32, lead=True),
            Column("merged", lambda row: progress_cell(row.plays_merged, row.plays_total), 16),
            Column("waits", self._gated, 7, align="right"),
            Column("play", lambda row: (row.active_play or "", "soft"), 12, max_width=20, priority=2),
            Column("source", lambda row: (row.source, "soft"), 6, priority=3),
            Column("changed", lambda row: (fmt.when(row.updated_at, self.now()), "soft"), 7, align="right", priority=1),
            Column("goal", self._goal, 10, fill=True, priority=4),
        )

    def row_id(self, row: ShowSummary) -> str:
        """The topic is unique."""
        return row.topic

    def found_by(self, row: ShowSummary) -> str:
        """Topic, goal, repository and state."""
        return f"{row.topic} {row.goal or ''} {row.repo or ''} {row.state}"

    def nothing(self) -> Notice:
        """Neither store nor disk has one."""
        return Notice("no shows", ("neither the store nor the shows directory holds one",), token="soft")

    def summary(self, rows: Sequence[ShowSummary]) -> Sequence[Span]:
        """How many plays wait for a person."""
        gated = sum(row.gated for row in rows)
        return [(f"   {gated} {'play waits' if gated == 1 else 'plays wait'} for a person", "gate")] if gated else ()

    def refresh_data(self) -> None:
        """Read the shows."""
        self.ask(self.LIST, self.studio.shows.list_shows, self.show_all)

    def preview(self, row: ShowSummary, width: int) -> Sequence[Sequence[Span]]:
        """Goal, repository, sources and their differences."""
        where = {"both": "store and disk", "store": "the store only", "disk": "the disk only, not imported"}[row.source]
        lines = [[*heading(row.topic), (f"  {row.status or 'unknown'} · {where}", "faint")]]
        if row.goal:
            lines += wrapped("goal", row.goal, width, "ink", limit=2, indent=3)
        if row.repo:
            lines.append(fact("repo", row.repo, indent=3))
        if row.problem:
            lines += wrapped("problem", row.problem, width, "warn", limit=2, indent=3)
        for difference in row.differences[:2]:
            lines += wrapped("differs", difference, width, "warn", limit=1, indent=3)
        lines.append(fact("began", fmt.stamp(row.created_at), indent=3))
        return lines

    @on(VirtualList.Opened)
    def _opened(self, event: VirtualList.Opened) -> None:
        if event.row_id is not None:
            self.app.push_screen(ShowScreen(event.row_id))

    @staticmethod
    def _gated(row: ShowSummary) -> Span:
        return (str(row.gated), "bold gate") if row.gated else ("–", "faint")

    @staticmethod
    def _goal(row: ShowSummary) -> Span:
        return (row.problem, "warn") if row.problem else (row.goal or "", "soft")

"""The firings, skips and refusals of one schedule, and what the one under the cursor wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.models.common import Page
from studio_tui.application.models.schedules import Firing, FiringQuery, ScheduleDetail
from studio_tui.tui import format as fmt
from studio_tui.tui.keys import bind
from studio_tui.tui.safe_text import fold
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.schedule_columns import firing_columns, next_words
from studio_tui.tui.screens.schedule_why import ask_why
from studio_tui.tui.statuses import Span, reason_token, state_cell
from studio_tui.tui.widgets.facts import fact, heading, wrapped
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.virtual_list import VirtualList

_PAGE: Final = 100
_LINES: Final = 400
_NEVER = Notice("never fired", ("this schedule has no firing, skip or refusal on record",), token="soft")


class ScheduleHistoryScreen(StudioScreen):
    """Firings newest first; below them the reason and the end of the output."""

    AUTO_FOCUS = "#firings"
    DEFAULT_CSS = """
    ScheduleHistoryScreen {
        #title { height: 2; margin: 1 0; }
        #output { height: 2fr; border-top: solid $line; scrollbar-size-vertical: 1; }
        #output > LinesPane { height: auto; }
        #firings { height: 3fr; }
    }
    """
    BINDINGS = [bind("pane.next", "app.focus_next", verb="output"), bind("why", "why"), bind("copy", "copy")]

    def __init__(self, schedule_id: str) -> None:
        super().__init__()
        self._schedule_id = schedule_id
        self._schedule: ScheduleDetail | None = None
        self._cursor: str | None = None

    def body(self) -> ComposeResult:
        """Title, firings, output."""
        yield LinesPane(id="title")
        yield VirtualList(
            firing_columns(self.now, lambda: self.studio_app.ascii), lambda row: row.firing_id, empty=_NEVER, id="firings"
        )
        with VerticalScroll(id="output"):
            yield LinesPane(id="output-lines")

    @property
    def list(self) -> VirtualList[Firing]:
        """The firings."""
        return self.query_one("#firings", VirtualList)

    def refresh_data(self) -> None:
        """Read the schedule and its newest firings."""
        self.ask("schedule", lambda: self.studio.schedules.get_schedule(self._schedule_id), self._show_schedule)
        query = FiringQuery(schedule_id=self._schedule_id, limit=_PAGE)
        self.ask("firings", lambda: self.studio.schedules.list_firings(query), self._show)

    def _show_schedule(self, schedule: ScheduleDetail) -> None:
        self._schedule = schedule
        self._draw_title()

    def _show(self, page: Page[Firing]) -> None:
        self._cursor = page.next_cursor
        self.list.set_rows(page.items, more_after=page.has_next)
        self._read_output()

    @on(VirtualList.NeedMore)
    @on(VirtualList.WantEdge)
    def _need_more(self, event: VirtualList.NeedMore) -> None:
        event.stop()
        if event.edge != "after" or self._cursor is None:
            return
        query = FiringQuery(schedule_id=self._schedule_id, limit=_PAGE, cursor=self._cursor)

        def add(page: Page[Firing]) -> None:
            self._cursor = page.next_cursor
            self.list.add_rows(page.items, "after", more=page.has_next)

        def failed(_error: StudioApplicationError) -> None:
            self.list.more_failed("after")

        self.ask("more", lambda: self.studio.schedules.list_firings(query), add, failed)

    # --- the firing under the cursor ----------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _read_output(self) -> None:
        row = self.list.row
        if row is None:
            self.query_one("#output-lines", LinesPane).show(())
            return
        firing_id = row.firing_id
        self._draw_output(row)
        self.ask("output", lambda: self.studio.schedules.get_firing(firing_id), self._show_output, lambda _error: None)

    def _show_output(self, firing: Firing) -> None:
        if firing.firing_id == self.list.cursor_id:
            self._draw_output(firing)

    def _draw_output(self, firing: Firing) -> None:
        self.query_one("#output-lines", LinesPane).show(firing_lines(firing, self.size.width, self.studio_app.ascii))

    def _draw_title(self) -> None:
        schedule = self._schedule
        if schedule is None:
            return
        due = f"   next {next_words(schedule.next_fire_at, self.now())}" if schedule.next_fire_at is not None else ""
        problem = schedule.problems[0] if schedule.problems else schedule.blocked
        first: list[Span] = [
            *heading(schedule.name),
            ("   ", "soft"),
            *state_cell(schedule.state, self.studio_app.ascii),
            (f"   {schedule.trigger}{due}", "ink"),
            (f"   {schedule.health.replace('-', ' ')}", "soft"),
        ]
        second = (problem, "warn") if problem else (" ".join(schedule.command_line) or schedule.action, "faint")
        self.query_one("#title", LinesPane).show([first, [("   ", "soft"), second]])

    def minute(self) -> None:
        """The countdown moves."""
        super().minute()
        self._draw_title()

    # --- acts ---------------------------------------------------------------------------------------------------------

    @on(VirtualList.Opened)
    def _opened(self) -> None:
        row = self.list.row
        if row is None:
            return
        if not row.run_ids:
            self.studio_app.toast("this firing has no run; a command leaves only its output")
            return
        from studio_tui.tui.screens.run_detail import RunDetailScreen  # the transcript is not needed before

        self.app.push_screen(RunDetailScreen(row.run_ids[0]))

    def action_why(self) -> None:
        """Why the firing under the cursor came about or did not, from what was recorded; without one, the next firing."""
        ask_why(self, self._schedule_id, firing_id=self.list.cursor_id)

    def action_copy(self) -> None:
        """Copy the output of the firing under the cursor, or its id when it wrote nothing."""
        row = self.list.row
        if row is not None:
            self.studio_app.copy(row.output_tail or row.firing_id)

    def on_resize(self, event: events.Resize) -> None:
        """The blank lines give way first."""
        self.query_one("#title").styles.margin = (1, 0) if event.size.height >= 20 else (0, 0)


def firing_lines(firing: Firing, width: int, ascii_only: bool) -> list[Sequence[Span]]:
    """One firing: how it ended, why, what ran, and the end of what it wrote."""
    exit_words = f"exit {firing.exit_code}" if firing.exit_code is not None else "no exit code"
    lines: list[Sequence[Span]] = [
        [
            *heading(f"firing {firing.firing_id}"),
            ("   ", "soft"),
            *state_cell(firing.state, ascii_only),
            (f"   {exit_words}   {fmt.stamp(firing.fired_at)}", "soft"),
        ]
    ]
    if firing.reason:
        lines += wrapped("why", firing.reason, width, reason_token(firing.state), limit=3, indent=3)
    if firing.command_line:
        lines += wrapped("ran", " ".join(firing.command_line), width, limit=3, indent=3)
    for run_id in firing.run_ids[:3]:
        lines.append(fact("run", (run_id, "accent"), "   enter opens it", indent=3))
    if firing.output_tail is None:
        lines.append(fact("output", ("none is kept", "faint"), indent=3))
        return lines
    text = fold(firing.output_tail.rstrip("\n"))
    shown = text[-_LINES:]
    size = f"{fmt.size(firing.output_bytes)}" if firing.output_bytes is not None else ""
    cut = f", the last {len(shown)} lines" if len(text) > len(shown) else ""
    lines += [(), heading("output", f"{size}{cut}" if text != [""] else "it wrote nothing")]
    return [*lines, *([("   ", "soft"), (line, "ink")] for line in shown if text != [""])]

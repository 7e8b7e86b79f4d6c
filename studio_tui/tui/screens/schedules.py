"""Schedules: what fires when, how it went, and the few acts on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.models.common import Page
from studio_tui.application.models.host import HostStatus
from studio_tui.application.models.schedules import (
    DeleteSchedule,
    Deletion,
    FireNow,
    FireResult,
    ScheduleDetail,
    ScheduleQuery,
    ScheduleResult,
    ScheduleSummary,
    SetScheduleEnabled,
)
from studio_tui.tui import failures
from studio_tui.tui import format as fmt
from studio_tui.tui.hosting import host_line
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.dialogs import Confirm
from studio_tui.tui.screens.schedule_columns import schedule_columns
from studio_tui.tui.screens.schedule_facts import deletion_words, next_fires, schedule_facts
from studio_tui.tui.screens.schedule_history import ScheduleHistoryScreen
from studio_tui.tui.screens.schedule_why import ask_why
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.filter_line import FilterLine
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.virtual_list import VirtualList

_PAGE: Final = 200
_BOTH: Final = 100
"""Cells of a window from which the count of what is off has room beside those of what is in trouble."""
_NARROW: Final = 70
_WIDE: Final = 110
_NONE: Final = Notice("no schedules", ("nothing fires by itself in this home",), (("n", "make the first one"),), token="soft")
_READ_ONLY: Final = Notice("no schedules", ("nothing fires by itself in this home",), token="soft")
_NO_STORE: Final = Notice("no schedules", ("there is no store in this home",), (("1", "runs, where n makes one"),), token="soft")
_NO_MATCH: Final = Notice("no schedule matches", ("no name holds that text",), (("esc", "clear the filter"),), token="soft")


class SchedulesScreen(StudioScreen):
    """The list by name, and the schedule under the cursor with its next fires."""

    AUTO_FOCUS = "#schedules"
    PREVIEW: ClassVar[int] = 9
    DEFAULT_CSS = """
    SchedulesScreen {
        #host { height: 1; margin-top: 1; }
        #preview { border-top: solid $line; height: 10; }
        #schedule-facts { width: 1fr; }
        #next-fires { width: 44; border-left: solid $line; display: none; }
        &.-wide #next-fires { display: block; }
    }
    """
    BINDINGS = [
        bind("toggle", "switch"),
        bind("run_now", "run_now"),
        bind("why", "why"),
        bind("edit", "edit"),
        bind("new", "create"),
        bind("filter", "filter"),
        bind("delete", "delete"),
        bind("copy", "copy", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._query = ScheduleQuery(limit=_PAGE)
        self._detail: ScheduleDetail | None = None
        self._cursor: str | None = None

    def body(self) -> ComposeResult:
        """Host line, filter, list, preview."""
        yield LinesPane(id="host")
        yield FilterLine("part of a name")
        yield VirtualList(
            schedule_columns(self.now, lambda: self.studio_app.ascii),
            lambda row: row.schedule_id,
            max_rows=20_000,
            empty=_NONE,
            id="schedules",
        )
        with Horizontal(id="preview"):
            yield LinesPane(id="schedule-facts")
            yield LinesPane(id="next-fires")

    @property
    def list(self) -> VirtualList[ScheduleSummary]:
        """The list."""
        return self.query_one("#schedules", VirtualList)

    # --- reading ------------------------------------------------------------------------------------------------------

    def refresh_data(self) -> None:
        """Read as many schedules as are loaded, and the host."""
        self._draw_host()
        limit = max(_PAGE, min(1_000, len(self.list.rows)))
        query = self._query.model_copy(update={"limit": limit})
        self.ask("schedules", lambda: self.studio.schedules.list_schedules(query), self._show)

    def _show(self, page: Page[ScheduleSummary]) -> None:
        shown = self.list
        shown.empty = _NO_MATCH if self._query.text else self._no_schedules
        self._cursor = page.next_cursor
        shown.set_rows(page.items, more_after=page.has_next)
        self._say_count()
        self._read_detail()
        self.refresh_bindings()

    @property
    def _no_schedules(self) -> Notice:
        mode = self.studio.store.status().mode
        return _NONE if mode == "ready" else _NO_STORE if mode == "missing" else _READ_ONLY

    @on(VirtualList.NeedMore)
    @on(VirtualList.WantEdge)
    def _need_more(self, event: VirtualList.NeedMore) -> None:
        event.stop()
        if event.edge != "after" or self._cursor is None:
            return
        query = self._query.model_copy(update={"cursor": self._cursor})

        def add(page: Page[ScheduleSummary]) -> None:
            self._cursor = page.next_cursor
            self.list.add_rows(page.items, "after", more=page.has_next)
            self._say_count()

        def failed(_error: StudioApplicationError) -> None:
            self.list.more_failed("after")

        self.ask("more", lambda: self.studio.schedules.list_schedules(query), add, failed)

    def _say_count(self) -> None:
        shown = self.list
        more = "" if shown.is_complete else "+"
        off = sum(1 for row in shown.rows if not row.enabled)
        broken = sum(1 for row in shown.rows if row.problems)
        failing = sum(1 for row in shown.rows if row.health == "failing" and not row.problems)
        noun = "" if failing and broken and self.size.width < _NARROW else " schedule" if len(shown.rows) == 1 else " schedules"
        spans: list[Span] = [(f"{fmt.count(len(shown.rows))}{more}{noun}", "faint")]
        if failing:
            spans.append((f"  {failing} failing", "bold fail"))
        if broken:
            spans.append((f"  {broken} broken", "bold fail"))
        if off and not (failing and broken and self.size.width < _BOTH):
            spans.append((f"  {off} off", "faint"))
        self.query_one(FilterLine).note(spans)

    def _draw_host(self) -> None:
        status: HostStatus = self.studio.host.status()
        self.query_one("#host", LinesPane).show([host_line(status, self.now())])

    def second(self) -> None:
        """Who fires, and whether that is held, may have changed without a change of the store."""
        self._draw_host()

    def minute(self) -> None:
        """Countdowns move."""
        super().minute()
        self._draw_host()
        self._draw_preview()

    # --- the schedule under the cursor --------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _read_detail(self) -> None:
        row = self.list.row
        self._draw_preview()
        if row is not None:
            schedule_id = row.schedule_id
            self.ask("detail", lambda: self.studio.schedules.get_schedule(schedule_id), self._show_detail, lambda _error: None)

    def _show_detail(self, detail: ScheduleDetail) -> None:
        self._detail = detail
        self._draw_preview()

    def _draw_preview(self) -> None:
        row, detail = self.list.row, self._detail
        if row is None:
            lines: Sequence[Sequence[Span]] = ()
            fires: Sequence[Sequence[Span]] = ()
        else:
            known = detail if detail is not None and detail.schedule_id == row.schedule_id else None
            width = self.size.width - (46 if self.has_class("-wide") else 2)
            lines = schedule_facts(row, known, width, self.now())
            fires = next_fires(known, self.now()) if known else ()
        self.query_one("#schedule-facts", LinesPane).show(lines)
        self.query_one("#next-fires", LinesPane).show(fires)

    # --- acts ---------------------------------------------------------------------------------------------------------

    def action_switch(self) -> None:
        """Turn the schedule under the cursor off or on: the state that is wanted, against the version that is seen."""
        row = self.list.row
        if row is None:
            return
        command = SetScheduleEnabled(schedule_id=row.schedule_id, enabled=not row.enabled, expected_updated_at=row.updated_at)

        def done(result: ScheduleResult) -> None:
            due = f", next in {fmt.countdown(result.next_fire_at, self.now())}" if result.next_fire_at else ""
            self.studio_app.toast(f"{result.name} is {'on' + due if result.enabled else 'off'}")
            self.refresh_data()

        self.act(lambda: self.studio.schedules.set_enabled(command), done)

    def action_run_now(self) -> None:
        """Fire the schedule under the cursor once, after a question that names it."""
        row = self.list.row
        if row is None:
            return
        command = FireNow(schedule_id=row.schedule_id)
        known = self._detail if self._detail and self._detail.schedule_id == row.schedule_id else None
        line = " ".join(known.command_line) if known else row.action
        words = [f"runs once now: {line}", "its caps still hold; its own timetable does not move"]

        def fired(result: FireResult) -> None:
            self.studio_app.toast(f"{result.name} fired: {result.firing_id}")
            self.refresh_data()

        def answered(yes: bool | None) -> None:
            if yes:
                self.act(lambda: self.studio.schedules.fire_now(command), fired)

        self.app.push_screen(Confirm(f"run {row.name} now? ({row.schedule_id})", words, verb="run now", harmful=False), answered)

    def action_create(self) -> None:
        """A small form for a new schedule."""
        from studio_tui.tui.screens.schedule_form import ScheduleForm  # only who asks for it pays for it

        def made(result: ScheduleResult | None) -> None:
            if result is not None:
                self.studio_app.toast(f"{result.name} was made; next in {fmt.countdown(result.next_fire_at, self.now())}")
                self.refresh_data()

        self.app.push_screen(ScheduleForm(self.studio), made)

    def action_edit(self) -> None:
        """The form with the schedule under the cursor in it, as it is stored now."""
        row = self.list.row
        if row is not None:
            schedule_id = row.schedule_id
            self.ask("edit", lambda: self.studio.schedules.get_schedule(schedule_id), self._edit, self._cannot)

    def _edit(self, stored: ScheduleDetail) -> None:
        from studio_tui.tui.screens.schedule_form import ScheduleForm  # only who asks for it pays for it

        def changed(result: ScheduleResult | None) -> None:
            if result is not None:
                what = f"changed: {', '.join(result.changed)}" if result.changed else "stays as it is"
                self.studio_app.toast(f"{result.name} {what}")
                self.refresh_data()

        if self.is_current:
            self.app.push_screen(ScheduleForm(self.studio, stored), changed)

    def action_delete(self) -> None:
        """Say what would vanish with the schedule under the cursor, and ask."""
        row = self.list.row
        if row is not None:
            schedule_id = row.schedule_id
            self.ask("delete", lambda: self.studio.schedules.deletion(schedule_id), self._ask_to_delete, self._cannot)

    def _ask_to_delete(self, deletion: Deletion) -> None:
        if deletion.obstacle is not None:
            self.studio_app.toast(f"{deletion.name} cannot be deleted: {deletion.obstacle}")
            return
        command = DeleteSchedule(schedule_id=deletion.schedule_id, although_running=bool(deletion.running))

        def deleted(gone: Deletion) -> None:
            self.studio_app.toast(f"{gone.name} is deleted")
            self.refresh_data()

        def answered(yes: bool | None) -> None:
            if yes:
                self.act(lambda: self.studio.schedules.delete_schedule(command), deleted)

        if self.is_current:
            title = f"delete {deletion.name}? ({deletion.schedule_id})"
            self.app.push_screen(Confirm(title, deletion_words(deletion), verb="delete"), answered)

    def _cannot(self, error: StudioApplicationError) -> None:
        self.studio_app.toast(failures.explain(error).sentence)

    def action_why(self) -> None:
        """Why the schedule under the cursor will fire or will not."""
        if self.list.cursor_id:
            ask_why(self, self.list.cursor_id)

    @on(VirtualList.Opened)
    def _opened(self, event: VirtualList.Opened) -> None:
        if event.row_id is not None:
            self.app.push_screen(ScheduleHistoryScreen(event.row_id))

    def action_copy(self) -> None:
        """Copy the id of the schedule under the cursor."""
        if self.list.cursor_id:
            self.studio_app.copy(self.list.cursor_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing changes in a store that must not be written."""
        if action in ("switch", "run_now", "create", "edit", "delete") and self.studio_app.is_open:
            return True if self.studio.store.status().mode == "ready" else None
        return True

    # --- filter -------------------------------------------------------------------------------------------------------

    @on(FilterLine.Changed)
    def _filter(self) -> None:
        self._query = ScheduleQuery(text=self.query_one(FilterLine).text or None, limit=_PAGE)
        self.refresh_data()

    @on(FilterLine.Left)
    def _filter_left(self) -> None:
        self.list.focus()

    def action_filter(self) -> None:
        """Narrow the list."""
        self.query_one(FilterLine).edit()

    def action_back(self) -> None:
        """Clear the filter."""
        self.query_one(FilterLine).clear()

    def on_resize(self, event: events.Resize) -> None:
        """The preview gives way first, then the blank lines."""
        width, height = event.size
        self.set_class(width >= _WIDE, "-wide")
        preview = self.query_one("#preview")
        preview.display = height >= 20
        preview.styles.height = self.PREVIEW + 1 if height >= 30 else 6
        self.query_one("#host").styles.margin = (1, 0, 0, 0) if height >= 20 else (0, 0, 0, 0)
        self.query_one(FilterLine).styles.margin = (0, 0, 1, 0) if height >= 20 else (0, 0, 0, 0)
        self._draw_preview()

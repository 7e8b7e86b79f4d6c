"""Runs, newest activity first: find one, see how it stands, open it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.timer import Timer

from studio_tui.application.errors import NotFound, StudioApplicationError, ValidationFailure
from studio_tui.application.models.common import Page
from studio_tui.application.models.runs import RunQuery, RunSummary
from studio_tui.application.run_filter import FAULTS, parse_run_filter
from studio_tui.tui import format as fmt
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.run_columns import run_columns
from studio_tui.tui.widgets.filter_line import FilterLine
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.run_preview import RunPreview
from studio_tui.tui.widgets.virtual_list import VirtualList

_PAGE: Final = 200
_SETTLE: Final = 0.2
"""Seconds that the cursor rests on a run before it is previewed: while it travels only its own two lines are drawn."""
_NO_RUNS = Notice(
    "no runs yet", ("runs appear here as soon as an agent, a flow or a schedule has run in this home",), token="soft"
)
_NO_MATCH = Notice("no run matches", ("nothing in this store fits the filter",), (("esc", "clear the filter"),), token="soft")
_NO_STORE = Notice(
    "no store in this home",
    ("there is no state.db here, and looking makes none",),
    (("n", "make an empty store"), ("q", "quit")),
    token="ink",
)


class RunsScreen(StudioScreen):
    """The list of runs with its filter, and a preview of the run under the cursor."""

    AUTO_FOCUS = "#runs"
    DEFAULT_CSS = """
    RunsScreen RunPreview { border-top: solid $line; }
    """
    BINDINGS = [
        bind("filter", "filter"),
        bind("faults", "faults"),
        bind("copy", "copy"),
        bind("new", "make_store", verb="make a store"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._query = RunQuery(limit=_PAGE)
        self._faults = False
        self._listed_at: dict[str, float | None] = {}
        self._newer = 0
        self._total: int | None = None
        self._resting: Timer | None = None

    def body(self) -> ComposeResult:
        """Filter, list, preview."""
        yield FilterLine("status:failed project:web kind:agent or words")
        yield VirtualList(run_columns(self.now, lambda: self.studio_app.ascii), lambda run: run.run_id, empty=_NO_RUNS, id="runs")
        yield RunPreview(id="preview")

    @property
    def list(self) -> VirtualList[RunSummary]:
        """The list."""
        return self.query_one("#runs", VirtualList)

    # --- reading ------------------------------------------------------------------------------------------------------

    def refresh_data(self) -> None:
        """Read the first page when it is what is seen; else the rows on screen, and how many came before them."""
        if self.studio.store.status().mode == "missing":
            self.list.empty = _NO_STORE
        if not self.list.rows or self.list.is_at_top:
            self._read_first()
        else:
            self._read_visible()
        if not self._is_filtered:
            self.ask("count", self.studio.runs.approximate_count, self._counted, failed=lambda _error: None)

    def action_refresh(self) -> None:
        """Read again, and take in the runs that came meanwhile."""
        self._read_first()

    def _read_first(self, *, fresh: bool = False) -> None:
        query = self._query
        self.ask("runs", lambda: self.studio.runs.list_runs(query), lambda page: self._show_first(page, fresh=fresh))

    def _show_first(self, page: Page[RunSummary], *, fresh: bool) -> None:
        self._newer = 0
        self._listed_at = {}
        self._remember(page.items)
        self.list.empty = _NO_STORE if self._is_missing else _NO_MATCH if self._is_filtered else _NO_RUNS
        self.list.set_rows(page.items, more_after=page.has_next, fresh=fresh)
        self._say_count()
        self._show_preview()
        self.refresh_bindings()

    def _read_visible(self) -> None:
        ids = [run.run_id for run in self.list.visible_rows]
        first = self.list.rows[0]
        anchor = first.model_copy(update={"updated_at": self._listed_at.get(first.run_id, first.updated_at)})
        query = self._query
        self.ask("visible", lambda: self.studio.runs.refresh_runs(ids), lambda runs: self._show_visible(ids, runs))
        self.ask("newer", lambda: self.studio.runs.count_newer(query, anchor), self._show_newer, failed=lambda _error: None)

    def _show_visible(self, ids: Iterable[str], runs: tuple[RunSummary, ...]) -> None:
        self.list.update_rows(runs)
        gone = set(ids) - {run.run_id for run in runs}
        if gone:
            self.list.remove_rows(gone)
        self._show_preview()

    def _show_newer(self, newer: int) -> None:
        self._newer = newer
        self._say_count()

    @on(VirtualList.NeedMore)
    def _need_more(self, event: VirtualList.NeedMore) -> None:
        event.stop()
        edge = event.edge
        rows = self.list.rows
        if isinstance(event, VirtualList.WantEdge) or not rows:
            return
        last = rows[-1 if edge == "after" else 0]
        query = self._query.model_copy(
            update={
                "cursor": self.studio.runs.cursor_at(self._listed_at.get(last.run_id, last.updated_at), last.run_id),
                "backwards": edge == "before",
            }
        )

        def add(page: Page[RunSummary]) -> None:
            self._remember(page.items)
            self.list.add_rows(page.items, edge, more=page.has_next)
            self._forget()

        def failed(error: StudioApplicationError) -> None:
            self.list.more_failed(edge)

        self.ask(f"more {edge}", lambda: self.studio.runs.list_runs(query), add, failed)

    @on(VirtualList.WantEdge)
    def _want_edge(self, event: VirtualList.WantEdge) -> None:
        event.stop()
        if event.edge == "before":
            self._read_first(fresh=True)
            return
        query = self._query.model_copy(update={"backwards": True})

        def show_last(page: Page[RunSummary]) -> None:
            self._listed_at = {}
            self._remember(page.items)
            self.list.set_rows(page.items, more_before=page.has_next)
            self.list.action_edge("after")
            self._say_count()

        self.ask("runs", lambda: self.studio.runs.list_runs(query), show_last)

    def _remember(self, runs: Iterable[RunSummary]) -> None:
        """The key by which a run was listed: a run that moves on keeps its place here, so paging goes by the old one."""
        self._listed_at |= {run.run_id: run.updated_at for run in runs}

    def _forget(self) -> None:
        held = {run.run_id for run in self.list.rows}
        self._listed_at = {run_id: at for run_id, at in self._listed_at.items() if run_id in held}

    # --- what is said about the list ----------------------------------------------------------------------------------

    @property
    def _is_filtered(self) -> bool:
        return self._query != RunQuery(limit=_PAGE)

    @property
    def _is_missing(self) -> bool:
        return self.studio.store.status().mode == "missing"

    def _counted(self, count: int) -> None:
        self._total = count
        self._say_count()

    def _say_count(self) -> None:
        shown = self.list
        spans = []
        if self._is_filtered:
            count = len(shown.rows)
            more = "+" if count and not shown.is_complete else ""
            spans.append((f"{fmt.count(count)}{more} match", "faint"))
        elif self._total is not None:
            spans.append((f"≈ {fmt.count(self._total)} runs", "faint"))
        if self._faults:
            spans.append(("   faults only", "bold warn"))
        if shown.marks:
            hidden = f", {shown.hidden_marks} not shown" if shown.hidden_marks else ""
            spans.append((f"   {len(shown.marks)} marked{hidden}", "accent"))
        if self._newer:
            spans.append((f"   {self._newer} new, r shows them", "bold run"))
        self.query_one(FilterLine).note(spans)

    # --- filter -------------------------------------------------------------------------------------------------------

    @on(FilterLine.Changed)
    def _filter(self) -> None:
        text = self.query_one(FilterLine).text
        try:
            query = parse_run_filter(text, limit=_PAGE)
        except ValidationFailure as failure:
            self.query_one(FilterLine).note([(str(failure), "warn")])
            return
        if self._faults:
            query = query.model_copy(update={"status": FAULTS})
        self._query = query
        self._read_first(fresh=True)

    @on(FilterLine.Left)
    def _filter_left(self) -> None:
        self.list.focus()

    def action_filter(self) -> None:
        """Narrow the list."""
        self.query_one(FilterLine).edit()

    def action_faults(self) -> None:
        """Only runs that went wrong, or all again."""
        self._faults = not self._faults
        self._filter()

    def action_back(self) -> None:
        """Clear the filter."""
        if self._faults:
            self.action_faults()
        self.query_one(FilterLine).clear()

    # --- the run under the cursor -------------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._show_preview()

    def _show_preview(self) -> None:
        """Preview the run under the cursor once the cursor rests."""
        if self._resting:
            self._resting.stop()
        if self.query_one(RunPreview).display:
            self._resting = self.set_timer(_SETTLE, self._read_preview)

    def _read_preview(self) -> None:
        if not self.is_current:
            return
        preview, run_id = self.query_one(RunPreview), self.list.cursor_id
        preview.show_row(self.list.row)
        if run_id is None:
            return

        def failed(error: StudioApplicationError) -> None:
            if isinstance(error, NotFound):
                self.list.remove_rows((run_id,))

        self.ask("preview", lambda: preview.read(self.studio, run_id), preview.show_detail, failed)

    @on(VirtualList.Opened)
    def _opened(self, event: VirtualList.Opened) -> None:
        if event.row_id is not None:
            from studio_tui.tui.screens.run_detail import RunDetailScreen  # the transcript is not needed before

            self.app.push_screen(RunDetailScreen(event.row_id))

    @on(VirtualList.Marked)
    def _marked(self) -> None:
        self._say_count()

    # --- acts ---------------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the ids of the marked runs, or of the one under the cursor."""
        shown = self.list
        ids = sorted(shown.marks) or ([shown.cursor_id] if shown.cursor_id else [])
        if ids:
            self.studio_app.copy("\n".join(ids))

    def action_make_store(self) -> None:
        """Make an empty store where there is none."""
        self.act(self.studio.store.create, lambda _done: self.refresh_data())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A store can be made only where there is none."""
        return self._is_missing if action == "make_store" else True

    def on_resize(self, event: events.Resize) -> None:
        """The preview gives way first, then the blank lines."""
        height = event.size.height
        preview = self.query_one(RunPreview)
        preview.display = height >= 20
        preview.styles.height = 8 if height >= 30 else 6
        self.query_one(FilterLine).styles.margin = (1, 0) if height >= 20 else (0, 0)

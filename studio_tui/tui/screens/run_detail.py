"""One run: what was said in it, and everything else that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll

from studio_tui.application.errors import NotFound, StudioApplicationError
from studio_tui.application.models.runs import MessagePage, MessageQuery, RunDetail
from studio_tui.tui import failures
from studio_tui.tui import format as fmt
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.run_columns import took
from studio_tui.tui.statuses import Span, state_cell
from studio_tui.tui.widgets.facts import heading
from studio_tui.tui.widgets.notice import READING, Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.run_facts import run_facts
from studio_tui.tui.widgets.transcript import Transcript

_WIDE: Final = 110
_PAGE: Final = 200
_SILENT = Notice("no messages", ("nothing was said in this run, or its messages were removed by retention",), token="soft")


class RunDetailScreen(StudioScreen):
    """The transcript on the left and the facts on the right; where it is narrow one of them, by tab."""

    AUTO_FOCUS = "Transcript"
    DEFAULT_CSS = """
    RunDetailScreen {
        LinesPane#title { height: 3; margin-top: 1; }
        Horizontal { height: 1fr; }
        Transcript { width: 3fr; }
        #facts { width: 2fr; border-left: solid $line; scrollbar-size-vertical: 1; }
        #facts > LinesPane { height: auto; }
        &.-narrow #facts { width: 1fr; border-left: none; display: none; }
        &.-narrow Transcript { width: 1fr; }
        &.-narrow.-facts Transcript { display: none; }
        &.-narrow.-facts #facts { display: block; }
    }
    """
    BINDINGS = [
        bind("pane.next", "pane", verb="log/facts"),
        bind("branch.next", "branch(1)", verb="branch"),
        bind("branch.previous", "branch(-1)", show=False),
        bind("follow", "follow"),
        bind("copy", "copy"),
    ]

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self._run_id = run_id
        self._run: RunDetail | None = None
        self._branch = 0

    def body(self) -> ComposeResult:
        """Title, transcript, facts."""
        yield LinesPane(id="title")
        with Horizontal():
            yield Transcript(empty=READING)
            with VerticalScroll(id="facts"):
                yield LinesPane(id="fact-lines")

    @property
    def transcript(self) -> Transcript:
        """The transcript."""
        return self.query_one(Transcript)

    # --- reading ------------------------------------------------------------------------------------------------------

    def refresh_data(self) -> None:
        """Read the run, and the messages that were added."""
        self.ask("run", lambda: self.studio.runs.get_run(self._run_id), self._apply, self._run_failed)
        if self.transcript.is_empty:
            self._read_tail()
        elif not self.transcript.has_newer:
            self._read_window("newer", after=self.transcript.end)

    def _apply(self, run: RunDetail) -> None:
        self._run = run
        self._draw()
        self.refresh_bindings()

    def _run_failed(self, error: StudioApplicationError) -> None:
        if isinstance(error, NotFound) and self._run is not None:
            self.query_one("#title", LinesPane).show([[(" this run was deleted meanwhile", "warn")], *self._title(self._run)[1:]])
        elif self._run is None:
            self.transcript.say(failures.notice(error))

    def _query(self, **window: int | None) -> MessageQuery:
        branches = self._run.branches if self._run else ()
        branch = branches[self._branch - 1].branch_id if self._branch else None
        return MessageQuery(run_id=self._run_id, branch_id=branch, limit=_PAGE, **window)

    def _read_tail(self) -> None:
        query = self._query()
        self.ask("messages", lambda: self.studio.runs.list_messages(query), self._show_tail, self._tail_failed)

    def _show_tail(self, page: MessagePage) -> None:
        self.transcript.set_page(page)
        if not page.items:
            self.transcript.say(_SILENT)

    def _tail_failed(self, error: StudioApplicationError) -> None:
        self.transcript.say(failures.notice(error))

    def _read_window(self, edge: str, *, before: int | None = None, after: int | None = None) -> None:
        query, branch = self._query(before=before, after=after), self._branch
        transcript = self.transcript

        def add(page: MessagePage) -> None:
            if branch != self._branch or (after is not None and after != transcript.end):
                transcript.more_failed("newer" if after is not None else "older")
                return
            transcript.add_page(page, "newer" if after is not None else "older")
            if len(page.items) == _PAGE and after is not None:
                self._read_window("newer", after=transcript.end)

        def failed(_error: StudioApplicationError) -> None:
            transcript.more_failed("newer" if after is not None else "older")

        self.ask(f"messages {edge}", lambda: self.studio.runs.list_messages(query), add, failed)

    @on(Transcript.NeedMore)
    def _need_more(self, event: Transcript.NeedMore) -> None:
        event.stop()
        if isinstance(event, Transcript.WantEdge):
            return
        if event.edge == "older":
            self._read_window("older", before=self.transcript.start)
        else:
            self._read_window("newer", after=self.transcript.end)

    @on(Transcript.WantEdge)
    def _want_edge(self, event: Transcript.WantEdge) -> None:
        event.stop()
        if event.edge == "newer":
            self._read_tail()
            return
        query = self._query(after=0)
        self.ask(
            "messages", lambda: self.studio.runs.list_messages(query), lambda page: self.transcript.set_page(page, newer=True)
        )

    # --- drawing ------------------------------------------------------------------------------------------------------

    @on(Transcript.Followed)
    def _followed(self) -> None:
        self._draw_title()

    def minute(self) -> None:
        """The title shows how long a live run has been up."""
        self._draw_title()

    def _draw(self) -> None:
        self._draw_title()
        if self._run is not None:
            pane = self.query_one("#facts", VerticalScroll)
            width = (pane.size.width or self.size.width * 2 // 5) - 2
            self.query_one("#fact-lines", LinesPane).show(run_facts(self._run, width))

    def _draw_title(self) -> None:
        if self._run is not None:
            self.query_one("#title", LinesPane).show(self._title(self._run))

    def _title(self, run: RunDetail) -> Sequence[Sequence[Span]]:
        state = state_cell(run.state, self.studio_app.ascii)
        live = run.status == "running"
        tokens = f"{fmt.tokens(run.input_tokens)} in {fmt.tokens(run.output_tokens)} out" if run.input_tokens is not None else ""
        cost = f"{fmt.money(run.total_cost_usd)} usd" if run.total_cost_usd is not None else ""
        figures = "   ".join(
            part for part in (f"{'up' if live else 'took'} {took(run, self.now()).lstrip('+')}", tokens, cost) if part
        )
        first: list[Span] = [
            *heading(run.name),
            ("   ", "soft"),
            *state,
            (f"   {run.invocation_kind}   ", "faint"),
            (figures, "ink"),
        ]
        if run.current_phase and live:
            first.append((f"   {run.current_phase}", "soft"))
        return [first, self._tabs(run), []]

    def _tabs(self, run: RunDetail) -> Sequence[Span]:
        transcript = self.transcript
        facts = self.has_class("-facts") and self.has_class("-narrow")
        spans: list[Span] = [("   ", "soft")]
        if self.has_class("-narrow"):
            spans += [("log", "faint" if facts else "bold ink"), ("   ", "soft"), ("facts", "bold ink" if facts else "faint")]
            spans.append(("   ", "soft"))
        if self._branch:
            spans.append((f"branch {self._branch} of {len(run.branches)}: {run.branches[self._branch - 1].name}   ", "accent"))
        elif len(run.branches) > 1:
            spans.append((f"all {len(run.branches)} branches   ", "faint"))
        if run.status != "running" and transcript.following:
            spans.append(("end of the log", "faint"))
        elif transcript.following:
            spans.append(("following", "run"))
        elif transcript.has_newer:
            spans.append(("newer messages below, F goes to the end", "accent"))
        elif transcript.below:
            spans.append((f"{transcript.below} below, F follows", "accent"))
        return spans

    # --- acts ---------------------------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """To the end, and stay there."""
        self.transcript.action_last()

    def action_pane(self) -> None:
        """The other pane: shown where there is room for one, focused where there is room for both."""
        if self.has_class("-narrow"):
            self.toggle_class("-facts")
            (self.query_one("#facts") if self.has_class("-facts") else self.transcript).focus()
        elif self.transcript.has_focus:
            self.query_one("#facts").focus()
        else:
            self.transcript.focus()
        self._draw()

    def action_branch(self, by: int) -> None:
        """The messages of the next branch, or of all."""
        branches = self._run.branches if self._run else ()
        if len(branches) > 1:
            self._branch = (self._branch + by) % (len(branches) + 1)
            self._read_tail()
            self._draw_title()

    def action_copy(self) -> None:
        """Copy the entry under the cursor; without one, the id of the run."""
        entry = self.transcript.current
        self.studio_app.copy(entry.copied if entry is not None and self.transcript.has_focus else self._run_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Branches can be chosen where there are several."""
        return self._run is not None and len(self._run.branches) > 1 if action == "branch" else True

    def on_resize(self, event: events.Resize) -> None:
        """One pane where there is no room for two."""
        self.set_class(event.size.width < _WIDE, "-narrow")
        self.query_one("#title").styles.margin = (1, 0, 0, 0) if event.size.height >= 20 else (0, 0, 0, 0)
        self.call_after_refresh(self._draw)

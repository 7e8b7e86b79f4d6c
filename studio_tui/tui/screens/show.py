"""One show: its plays in order, and what is known of the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from studio_tui.application.models.shows import PlayView, ShowDetail
from studio_tui.tui import format as fmt
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.statuses import STATE_WIDTH, Span, reason_token, state_cell
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.facts import LABEL, fact, heading, wrapped
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.virtual_list import VirtualList

_WIDE = 110


class ShowScreen(StudioScreen):
    """Plays on the left, the play under the cursor on the right (below, where it is narrow)."""

    TOPICS = frozenset({"store", "shows"})
    AUTO_FOCUS = "#plays"
    DEFAULT_CSS = """
    ShowScreen {
        LinesPane#title { height: 3; margin: 1 0; }
        Horizontal { height: 1fr; }
        #plays { width: 3fr; }
        #play { width: 2fr; border-left: solid $line; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow #plays { width: 100%; height: 1fr; }
        &.-narrow #play { width: 100%; height: 9; border-left: none; border-top: solid $line; }
    }
    """
    BINDINGS = [bind("copy", "copy", show=False)]

    def __init__(self, topic: str) -> None:
        super().__init__()
        self._topic = topic
        self._show: ShowDetail | None = None

    def body(self) -> ComposeResult:
        """Title, plays, the picked play."""
        yield LinesPane(id="title")
        with Horizontal():
            yield VirtualList(
                self._columns(),
                lambda play: play.name,
                id="plays",
                empty=Notice("no plays", ("this show has no play in the store and none on disk",), token="soft"),
            )
            yield LinesPane(id="play")

    def _columns(self) -> Sequence[Column[PlayView]]:
        return (
            Column("state", self._state, STATE_WIDTH),
            Column("play", lambda play: (play.name, "ink"), 16, max_width=28, lead=True),
            Column("try", lambda play: (str(play.attempt) if play.attempt is not None else "–", "soft"), 3, align="right"),
            Column("took", lambda play: (self._took(play), "ink"), 7, align="right", priority=1),
            Column("gate", lambda play: (play.gate or "–", "gate" if play.needs_person else "soft"), 10, priority=2),
            Column("merge", lambda play: ((play.merge_sha or "–")[:8], "soft"), 8, priority=4),
            Column("needs or why", self._why, 10, fill=True, priority=3),
        )

    def refresh_data(self) -> None:
        """Read the show."""
        self.ask("plays", lambda: self.studio.shows.get_show(self._topic), self._apply)

    def _apply(self, show: ShowDetail) -> None:
        self._show = show
        self.query_one("#title", LinesPane).show(self._title(show))
        self.query_one("#plays", VirtualList).set_rows(show.plays)
        self._draw_play()

    def _title(self, show: ShowDetail) -> Sequence[Sequence[Span]]:
        state = state_cell(show.state, self.studio_app.ascii)
        branches = " → ".join(part for part in (show.base_branch, show.integration_branch) if part)
        where = {"both": "store and disk", "store": "store only", "disk": "disk only"}[show.source]
        first = [
            *heading(show.topic),
            ("  ", "soft"),
            *state,
            (f"   {show.plays_merged} of {show.plays_total} plays merged", "ink"),
        ]
        if show.gated:
            first.append((f"   {show.gated} {'waits' if show.gated == 1 else 'wait'} for a person", "bold gate"))
        first.append((f"   source: {where}", "faint"))
        problem = show.problem or "; ".join(show.differences)
        about = [fact("goal", show.goal or "–", indent=3)]
        more = [part for part in (show.repo, branches) if part]
        third = fact("problem", (problem, "warn"), indent=3) if problem else fact("repo", "   ".join(more) or "–", indent=3)
        return [first, *about, third]

    # --- the play under the cursor -----------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _draw_play(self) -> None:
        pane = self.query_one("#play", LinesPane)
        play: PlayView | None = self.query_one("#plays", VirtualList).row
        pane.show(self._play_lines(play, pane.size.width or 60) if play else ())

    def _play_lines(self, play: PlayView, width: int) -> Sequence[Sequence[Span]]:
        word = play.status or "unknown"
        lines: list[list[Span]] = [[*heading(play.name), ("  ", "soft"), (word, reason_token(play.state))]]
        if play.live_state == "unavailable":
            lines += wrapped("disk", f"unavailable: {play.live_error or 'cannot be read'}", width, "warn", indent=3)
        elif play.live_state == "not_on_disk":
            lines.append(fact("disk", "no directory; the store's word is shown", indent=3))
        for difference in play.differences:
            lines += wrapped("differs", difference, width, "warn", limit=2, indent=3)
        if play.gate or play.gate_feedback:
            lines += wrapped("gate", f"{play.gate or ''}  {play.gate_feedback or ''}".strip(), width, "gate", indent=3)
        if play.reason:
            lines += wrapped("reason", play.reason, width, "ink", limit=3, indent=3)
        if play.depends_on:
            lines += wrapped("needs", ", ".join(play.depends_on), width, limit=2, indent=3)
        if holds := self._held_by(play):
            lines += wrapped("holds up", ", ".join(holds), width, limit=2, indent=3)
        lines.append(fact("began", fmt.stamp(play.started_at), indent=3))
        if play.ended_at is not None:
            lines.append(fact("ended", fmt.stamp(play.ended_at), indent=3))
        for label, value in (("branch", play.branch), ("worktree", play.worktree), ("merge", play.merge_sha)):
            if value:
                lines.append(fact(label, value, indent=3))
        if play.session_id:
            lines.append(fact("run", (play.session_id, "accent"), "   enter opens it", indent=3))
        if play.sources:
            said = ", ".join(f"{field} {source}" for field, source in play.sources.items())
            lines += wrapped("says", said, max(width, LABEL + 10), "faint", limit=3, indent=3)
        return lines

    def _held_by(self, play: PlayView) -> list[str]:
        plays = self._show.plays if self._show else ()
        return [other.name for other in plays if play.name in other.depends_on and other.status != "merged"]

    # --- acts ---------------------------------------------------------------------------------------------------------

    @on(VirtualList.Opened)
    def _opened(self) -> None:
        play: PlayView | None = self.query_one("#plays", VirtualList).row
        if play is None:
            return
        if play.session_id is None:
            self.studio_app.toast("this play has no linked run")
            return
        from studio_tui.tui.screens.run_detail import RunDetailScreen  # the transcript is not needed before

        self.app.push_screen(RunDetailScreen(play.session_id))

    def action_copy(self) -> None:
        """Copy what names the play."""
        play: PlayView | None = self.query_one("#plays", VirtualList).row
        if play is not None:
            self.studio_app.copy(f"{self._topic}/{play.name}")

    def on_resize(self, event: events.Resize) -> None:
        """Below each other where there is no room side by side."""
        self.set_class(event.size.width < _WIDE, "-narrow")
        self.query_one("#title").styles.margin = (1, 0) if event.size.height >= 30 else (0, 0)

    def on_lines_pane_widened(self) -> None:
        """What is said of the play is broken to the width of its pane."""
        self._draw_play()

    def _state(self, play: PlayView) -> tuple[Span, Span]:
        return state_cell("UNSURE" if play.live_state == "unavailable" else play.state, self.studio_app.ascii)

    def _took(self, play: PlayView) -> str:
        if play.started_at is not None and play.ended_at is None:
            return "+" + fmt.one_unit(max(0.0, self.now() - play.started_at))
        return fmt.duration(play.duration)

    @staticmethod
    def _why(play: PlayView) -> Span:
        if play.live_state == "unavailable":
            return (f"unavailable: {play.live_error or ''}", "warn")
        if play.reason:
            return (play.reason, reason_token(play.state))
        return (f"needs {', '.join(play.depends_on)}" if play.depends_on else "", "soft")

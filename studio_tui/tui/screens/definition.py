"""One definition: its text with syntax colours, and its versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from studio_tui.application.models.definitions import DefinitionDetail, DefinitionVersion
from studio_tui.tui import format as fmt
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.definitions import DRIFT
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.facts import heading
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.source_view import SourceView
from studio_tui.tui.widgets.virtual_list import VirtualList

CURRENT = "current"
"""The entry of the versions' list that stands for what is on disk (or in the row) now."""
Entry = DefinitionVersion | None


class DefinitionScreen(StudioScreen):
    """The text on the left, the versions on the right (below, where it is narrow)."""

    TOPICS = frozenset({"store", "definitions"})
    AUTO_FOCUS = "#versions"
    NARROW: ClassVar[int] = 100
    DEFAULT_CSS = """
    DefinitionScreen {
        LinesPane#title { height: 2; margin: 1 0; }
        Horizontal { height: 1fr; }
        SourceView { width: 1fr; }
        #versions { width: 40; border-left: solid $line; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow #versions { width: 100%; height: 6; border-left: none; border-top: solid $line; }
    }
    """
    BINDINGS = [bind("pane.next", "app.focus_next", verb="text/versions"), bind("copy", "copy")]

    def __init__(self, kind: str, definition: str) -> None:
        super().__init__()
        self._kind, self._definition = kind, definition
        self._detail: DefinitionDetail | None = None
        self._shown: tuple[str, str] | None = None

    def body(self) -> ComposeResult:
        """Title, text, versions."""
        yield LinesPane(id="title")
        with Horizontal():
            yield SourceView()
            yield VirtualList(self._columns(), lambda entry: self._entry_id(entry), id="versions")

    def _columns(self) -> Sequence[Column[Entry]]:
        return (
            Column("version", lambda entry: (f"v{entry.version}" if entry else self._current_word(), "ink"), 7, lead=True),
            Column("kept", lambda entry: (fmt.when(entry.created_at, self.now()) if entry else "now", "soft"), 7, align="right"),
            Column(
                "note",
                lambda entry: ((entry.message or "") if entry else self._drift()[0], self._note_token(entry)),
                8,
                fill=True,
            ),
        )

    def refresh_data(self) -> None:
        """Read the definition and its versions."""
        self.ask("versions", lambda: self.studio.definitions.get_definition(self._kind, self._definition), self._apply)

    def _apply(self, detail: DefinitionDetail) -> None:
        self._detail = detail
        self.query_one("#versions", VirtualList).set_rows((None, *detail.versions))
        self.query_one("#title", LinesPane).show(self._title(detail))
        self._shown = None
        self._show_picked()

    def _title(self, detail: DefinitionDetail) -> Sequence[Sequence[Span]]:
        word, token = DRIFT[detail.drift][0]
        history = "" if detail.history_available else "   the history cannot be read now"
        second = detail.problem or detail.description or ""
        return (
            [*heading(detail.name), (f"  {detail.kind} · {detail.persistence}   ", "faint"), (word, token), (history, "warn")],
            [(f"   {detail.path or ''}   ", "faint"), (second, "warn" if detail.problem else "soft")],
        )

    # --- the text -----------------------------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _show_picked(self) -> None:
        detail = self._detail
        if detail is None:
            return
        entry = self.query_one("#versions", VirtualList).row
        key = (self._entry_id(entry), detail.content or "") if entry is None else (self._entry_id(entry), "")
        if key == self._shown:
            return
        self._shown = key
        if entry is not None:
            number = entry.version
            self.ask("text", lambda: self.studio.definitions.get_version(self._kind, self._definition, number), self._show_text)
        elif detail.content is not None:
            self._show_text(detail.content)
        else:
            self.query_one(SourceView).say(Notice("no text", (detail.problem or DRIFT[detail.drift][1],), token="warn"))

    def _show_text(self, text: str) -> None:
        if self._detail is not None:
            self.query_one(SourceView).show(text, self._detail.language)

    def action_copy(self) -> None:
        """Copy the text that is shown."""
        self.studio_app.copy(self.query_one(SourceView).source)

    def on_resize(self, event: events.Resize) -> None:
        """The versions go below the text where there is no room beside it."""
        self.set_class(event.size.width < self.NARROW, "-narrow")

    # --- words --------------------------------------------------------------------------------------------------------

    def _entry_id(self, entry: Entry) -> str:
        return CURRENT if entry is None else str(entry.version)

    def _current_word(self) -> str:
        return "row" if self._kind == "workflow" else "file"

    def _drift(self) -> Span:
        return DRIFT[self._detail.drift][0] if self._detail else ("", "soft")

    def _note_token(self, entry: Entry) -> str:
        return "soft" if entry else self._drift()[1]

"""Text with syntax colours, to read and to select, not to edit."""

from __future__ import annotations

from typing import Final

from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from studio_tui.application.text import clean_block
from studio_tui.tui.themes import Palette, palette
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane

LIMIT: Final = 400_000
"""Characters of a text that are shown; beyond it highlighting would hold the screen for too long."""
_SYNTAX: Final = {
    "heading": "bold accent",
    "heading.marker": "faint",
    "comment": "faint",
    "string": "ok",
    "string.documentation": "ok",
    "string.special": "ok",
    "number": "gate",
    "float": "gate",
    "boolean": "gate",
    "constant.builtin": "gate",
    "json.null": "gate",
    "keyword": "accent",
    "tag": "accent",
    "yaml.field": "accent",
    "json.label": "accent",
    "property": "accent",
    "type": "warn",
    "link.uri": "accent",
    "link.label": "accent",
    "list.marker": "faint",
    "inline_code": "gate",
    "bold": "bold ink",
    "punctuation.special": "faint",
    "punctuation.delimiter": "faint",
    "punctuation.bracket": "faint",
}


class SourceView(Vertical):
    """A read-only text in one of the languages of definitions."""

    DEFAULT_CSS = """
    SourceView {
        & > TextArea { background: $ground; border: none; padding: 0 1; scrollbar-size: 1 1; }
        & > TextArea:focus { border: none; }
        & > LinesPane { display: none; }
        &.-notice > TextArea { display: none; }
        &.-notice > LinesPane { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._source = ""

    @property
    def source(self) -> str:
        """The text as it was given, for copying."""
        return self._source

    def compose(self) -> ComposeResult:
        """The text, or a notice in its place."""
        area = TextArea("", read_only=True, show_line_numbers=False, soft_wrap=True, show_cursor=False)
        area.cursor_blink = False
        yield area
        yield LinesPane()

    def on_mount(self) -> None:
        """Follow the theme."""
        self._paint()
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._paint())

    def show(self, text: str, language: str) -> None:
        """Show this text from its beginning."""
        self._source = text
        area = self.query_one(TextArea)
        self.remove_class("-notice")
        shown = text[:LIMIT]
        if len(text) > LIMIT:
            shown += f"\n\n… {len(text) - LIMIT:,} more characters are not shown here"
        area.language = language
        area.load_text(clean_block(shown))

    def say(self, notice: Notice) -> None:
        """There is no text; say why."""
        self._source = ""
        self.add_class("-notice")
        self.query_one(LinesPane).say(notice)

    def _paint(self) -> None:
        area = self.query_one(TextArea)
        area.register_theme(_theme(self.app.theme, palette(self.app.theme)))
        area.theme = f"studio-{self.app.theme}"


def _theme(name: str, colours: Palette) -> TextAreaTheme:
    return TextAreaTheme(
        name=f"studio-{name}",
        base_style=colours.style("ink"),
        cursor_line_style=Style.null(),
        selection_style=colours.style("ink", "pick"),
        syntax_styles={token: colours.style(style) for token, style in _SYNTAX.items()},
    )

"""One-line text fields: what is typed or stored is shown literally, and nothing blinks."""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual import events
from textual.widgets import Input

from studio_tui.application.text import visible

MAX_TYPED: Final = 5_000


class Field(Input):
    """An input of one line without a frame. Control characters in its value are drawn as marks; pasted ones are left out."""

    DEFAULT_CSS = """
    Field { background: $ground; color: $ink; }
    Field:focus { background: $ground; background-tint: $ground 0%; }
    Field > .input--placeholder, Field > .input--suggestion { color: $soft; }
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        max_length: int = MAX_TYPED,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(value, placeholder, compact=True, id=id, max_length=max_length, select_on_focus=False)
        self.cursor_blink = False

    @property
    def _value(self) -> Text:
        """What is drawn (Textual draws the value raw)."""
        return Text(visible(self.value), no_wrap=True, overflow="ignore", end="")

    def _on_paste(self, event: events.Paste) -> None:
        """The first line of what was pasted, without control characters."""
        event.stop()
        event.prevent_default()
        lines = event.text.strip("\r\n").splitlines()
        text = "".join(character for character in (lines[0] if lines else "")[:MAX_TYPED] if character.isprintable())
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)

"""Sends only the lines of a frame that differ from what the terminal shows.

Textual draws whole screens when one is entered, left or laid out, often twice in a row, and most of it is the same. Over a thin
line that is what one waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip
from textual.timer import Timer

if TYPE_CHECKING:
    from studio_tui.tui.app import StudioApp

_SETTLED: Final = 0.1
"""Seconds without another change of the window's size after which everything is drawn again."""

Placed = tuple[int, Strip]
"""A strip and the column where it begins."""


class Resizing:
    """Has everything drawn anew once the window's size has settled, but for the first frame.

    A window that shrinks and grows again loses what it showed, and when we look it has the size that we know: then Textual draws
    nothing.
    """

    def __init__(self, app: StudioApp, repaint: Callable[[], None]) -> None:
        self._app, self._repaint = app, repaint
        self._settling: Timer | None = None

    def changed(self) -> None:
        """The terminal told a size."""
        if self._settling is not None:
            self._settling.stop()
        if self._app.is_open:
            self._settling = self._app.set_timer(_SETTLED, self._repaint)


class ShownLines:
    """What the terminal shows, line by line, as far as whole lines were sent."""

    def __init__(self) -> None:
        self._lines: dict[int, str] = {}

    def forget(self) -> None:
        """The terminal may show anything now."""
        self._lines.clear()

    def forget_line(self, y: int) -> None:
        """A part of this line was drawn over."""
        self._lines.pop(y, None)

    def is_shown(self, y: int, text: str) -> bool:
        """Whether the terminal shows this line; it does after the call, as the caller sends it otherwise."""
        if self._lines.get(y) == text:
            return True
        self._lines[y] = text
        return False

    def only_changed(self, update: object, width: int) -> object:
        """The update without the lines that are shown already; what is no update of lines is returned as it is."""
        if isinstance(update, LayoutUpdate | ChopsUpdate):
            return _Changed(self, update, width)
        self.forget()
        return update


class _Changed(CompositorUpdate):
    """An update that is compared when it is written."""

    def __init__(self, shown: ShownLines, update: LayoutUpdate | ChopsUpdate, width: int) -> None:
        self._shown, self._update, self._width = shown, update, width

    def render_segments(self, console: Console) -> str:
        """The changed lines as terminal sequences."""
        update = self._update
        if isinstance(update, LayoutUpdate):
            return "".join(self._changed(_laid_out(update), console))
        whole = [span for span in update.spans if span[1] <= 0 and span[2] >= self._width]
        parts = [span for span in update.spans if span not in whole]
        text = "".join(self._changed(((y, list(_strips(update, y))) for y, _, _ in whole), console))
        for y, _, _ in parts:
            self._shown.forget_line(y)
        return text + (ChopsUpdate(update.chops, parts, update.chop_ends).render_segments(console) if parts else "")

    def _changed(self, lines: Iterable[tuple[int, Sequence[Placed]]], console: Console) -> Iterator[str]:
        for y, strips in lines:
            text = "".join(f"{Control.move_to(x, y).segment.text}{strip.render(console)}" for x, strip in strips)
            if not self._shown.is_shown(y, text):
                yield text


def _laid_out(update: LayoutUpdate) -> Iterator[tuple[int, Sequence[Placed]]]:
    """Each strip gets its own position: a glyph that is wider than it was measured to be moves nothing but its own pane."""
    for y, line in enumerate(update.strips, update.region.y):
        placed: list[Placed] = []
        x = update.region.x
        for strip in line:
            placed.append((x, strip))
            x += strip.cell_length
        yield y, placed


def _strips(update: ChopsUpdate, y: int) -> Iterator[Placed]:
    return ((x, strip) for x, strip in update.chops[y].items() if strip is not None)

"""What a pane says in place of rows: that it is reading, empty, or cannot read, why, and which key helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.wrapping import wrap

_LEAST: Final = 14
_MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Notice:
    """A state of a pane in words. ``what`` happened, ``why`` (what it means, line by line), and the ``keys`` that help.

    ``token`` colours ``what``: ``soft`` for reading and empty, ``fail`` or ``warn`` for trouble. Texts may hold data: they are
    cleaned where they are drawn.
    """

    what: str
    why: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    token: str = "ink"

    def lines(self, width: int) -> list[list[Span]]:
        """The notice as lines of spans, indented as the panes are, the reasons broken to ``width`` cells."""
        shown: list[list[Span]] = [[("   ", "ink"), (self.what, self.token)]]
        for line in self.why:
            broken, _ = wrap(line, max(_LEAST, width - 6), limit=_MOST)
            shown += [[("   ", "ink"), (one, "soft")] for one in broken]
        if self.keys:
            shown.append([])
            shown.append([("   ", "ink"), *key_spans(self.keys)])
        return shown

    def one_line(self) -> list[Span]:
        """The notice in one line, for a list that still shows older rows."""
        first = f": {self.why[0]}" if self.why else ""
        return [("   ", "ink"), (self.what + first + "   ", self.token), *key_spans(self.keys)]


def key_spans(pairs: tuple[tuple[str, str], ...]) -> list[Span]:
    """Keys in accent, their verbs in soft."""
    spans: list[Span] = []
    for key, verb in pairs:
        spans += [(key, "bold accent"), (f" {verb}   ", "soft")]
    return spans


READING = Notice("reading …", token="faint")
EMPTY = Notice("nothing here", token="soft")

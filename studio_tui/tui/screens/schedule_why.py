"""Why a schedule fires or does not: the answer, and every gate in its order with what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from studio_tui.application.models.why import Why
from studio_tui.tui.keys import bind
from studio_tui.tui.safe_text import wrap
from studio_tui.tui.screens.dialogs import Dialog
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.panes import LinesPane

if TYPE_CHECKING:
    from studio_tui.tui.screens.base import StudioScreen

_WIDTH: Final = 95
_EDGES: Final = 8
_WORD: Final = 6
_GATE: Final = 12
_WORDS: Final = {True: ("ok", "ok"), False: ("NO", "bold fail")}


def ask_why(screen: StudioScreen, schedule_id: str, *, firing_id: str | None = None) -> None:
    """Ask, and show the answer when it is there. ``firing_id``: about a recorded firing instead of the next one."""
    from studio_tui.application.models.why import WhyQuery

    query = WhyQuery(schedule_id=schedule_id, firing_id=firing_id)
    screen.ask("why", lambda: screen.studio.schedules.why(query), lambda why: _open(screen, why))


def _open(screen: StudioScreen, why: Why) -> None:
    if screen.is_current:
        screen.app.push_screen(WhyDialog(why))


class WhyDialog(Dialog[None]):
    """The answer in one sentence, then the gates or the records. Escape closes it."""

    BINDINGS = [bind("why", "cancel", show=False), bind("up", "cancel", show=False)]
    AUTO_FOCUS = "VerticalScroll"
    deaf_for = 0.0

    def __init__(self, why: Why) -> None:
        super().__init__(f"why {why.name}?")
        self._why = why

    def question(self) -> ComposeResult:
        """The answer and what it rests on, scrolled where it does not fit."""
        pane = LinesPane(classes="dialog-text", id="why", on="raised")
        pane.show(why_lines(self._why, self._room))
        with VerticalScroll(classes="why-scroll"):
            yield pane

    @property
    def _room(self) -> int:
        return min(_WIDTH, self.app.size.width - _EDGES)

    def on_resize(self) -> None:
        """Break the words anew."""
        super().on_resize()
        self.query_one("#why", LinesPane).show(why_lines(self._why, self._room))


def why_lines(why: Why, width: int) -> list[Sequence[Span]]:
    """The whole answer in lines of at most ``width`` cells."""
    token = {True: "bold ok", False: "bold fail", None: "bold warn"}[why.fires]
    lines: list[Sequence[Span]] = [[(line, token)] for line in wrap(why.answer, width)]
    if why.local is not None:
        lines.append([(f"{'planned for' if why.about == 'coming' else 'at'} {why.local}", "soft")])
    if why.gates:
        lines += [(), *_gates(why, width), (), [("as things stand now; the scheduler asks the same gates again", "faint")]]
    for record in why.records:
        lines += [[(line, "soft")] for line in wrap(record, width)]
    for step in why.chain:
        lines += [[(line, "faint")] for line in wrap(f"then {step}", width)]
    return lines


def _gates(why: Why, width: int) -> Iterator[Sequence[Span]]:
    for gate in why.gates:
        word, token = _WORDS[gate.passed]
        name = gate.gate.replace("_", " ")
        ink = "ink" if not gate.passed else "soft"
        for number, line in enumerate(wrap(gate.words, max(8, width - _WORD - _GATE))):
            first = number == 0
            yield [
                ((word if first else "").ljust(_WORD), token),
                ((name if first else "").ljust(_GATE), ink),
                (line, ink),
            ]

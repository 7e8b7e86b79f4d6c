"""The one table of state words: glyph and colour token of each, in look.md's order of urgency.

A state is a word first; glyph and colour only repeat it. Words are those of ``StateWord`` (a test compares the two); they are
plain strings here, so that the first frame needs no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Span = tuple[str, str]
"""Text and the style that it is drawn in: a token of :mod:`studio_tui.tui.themes`, with ``bold`` before it where it shouts."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a state is drawn. ``loud`` states are bold: they run, or they ask for a person."""

    glyph: str
    ascii: str
    token: str
    loud: bool = False


LOOKS: Final[dict[str, Look]] = {
    "RUN": Look("●", "*", "run", loud=True),
    "RUN?": Look("◍", "?", "warn", loud=True),
    "OK": Look("✓", "+", "ok"),
    "OK/REJ": Look("✓", "!", "warn", loud=True),
    "EMPTY": Look("✓", "!", "warn"),
    "FAIL": Look("✗", "x", "fail", loud=True),
    "TIME": Look("✗", "x", "fail", loud=True),
    "ABRT": Look("✗", "x", "mute"),
    "CANC": Look("−", "-", "mute"),
    "LOST": Look("?", "?", "warn", loud=True),
    "QUE": Look("○", "o", "soft"),
    "WAIT": Look("○", "o", "soft"),
    "GATE": Look("◆", "#", "gate", loud=True),
    "GATE!": Look("◆", "#", "fail", loud=True),
    "MERGED": Look("✓", "+", "ok"),
    "REDO": Look("●", "*", "warn", loud=True),
    "BLOCK": Look("✗", "x", "warn", loud=True),
    "PAUS": Look("○", "o", "warn"),
    "SKIP": Look("·", ".", "mute"),
    "ON": Look("●", "*", "ok"),
    "OFF": Look("○", "o", "mute"),
    "DONE": Look("✓", "+", "mute"),
    "BROKEN": Look("✗", "x", "fail", loud=True),
    "ACTIVE": Look("●", "*", "run", loud=True),
    "UNSURE": Look("?", "?", "warn"),
}
_UNKNOWN: Final = LOOKS["UNSURE"]
STATE_WIDTH: Final = 8
"""Cells of a column of states: glyph, blank, and the longest word."""


def look(word: str) -> Look:
    """How this state is drawn; an unknown word is drawn as unknown, never as fine."""
    return LOOKS.get(word, _UNKNOWN)


def state_token(word: str) -> str:
    """The style of a state's word, and of the reason beside it."""
    shown = look(word)
    return f"bold {shown.token}" if shown.loud else shown.token


def state_glyph(word: str, ascii_only: bool = False) -> Span:
    """The glyph alone, for strips of outcomes."""
    shown = look(word)
    return (shown.ascii if ascii_only else shown.glyph, shown.token)


def state_cell(word: str, ascii_only: bool = False) -> tuple[Span, Span]:
    """Glyph and word, for a column of ``STATE_WIDTH`` cells."""
    glyph, token = state_glyph(word, ascii_only)
    return (f"{glyph} ", token), (str(word), state_token(word))


def reason_token(word: str) -> str:
    """The colour of the words that say why: the state's own when it asks for a person, else soft."""
    token = look(word).token
    return token if token in ("fail", "warn") else "soft"

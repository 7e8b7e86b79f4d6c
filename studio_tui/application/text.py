"""Text from outside made fit to draw: what a terminal or a bidi algorithm would act on becomes visible.

:func:`clean` is for one-line places (cells, titles, one line of a table), :func:`clean_block` keeps line ends and tabs for
logs and previews. Neither knows of markup or styles: that is what the screens' gate adds. Both are pure and idempotent, and
their result holds no control, format, surrogate or separator character (Unicode Cc, Cf, Cs, Zl, Zp).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MARK: Final = "�"
"""Stands for a character that must not reach a terminal and has no picture of its own."""

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters that draw nothing: Hangul fillers, the combining grapheme joiner, Khmer inherent vowels, Mongolian selectors.
# Variation selectors are width hints that terminals disagree about, and are dropped.
_BLANK_LETTERS: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x3164, 0xFFA0})
_JOINERS: Final = frozenset({0x200C, 0x200D})
_SELECTORS: Final = frozenset({*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)})
_TONES: Final = re.compile("(?<=[\u2600-\u27bf\U0001f300-\U0001faff])[\U0001f3fb-\U0001f3ff]")
"""Skin tones after an emoji: terminals draw them in 0 or 2 cells, so that a row with one would not stay straight."""
_MAX_MARKS: Final = 4
"""Combining marks kept on one letter; Vietnamese and pointed Hebrew need up to three."""


class _Pictures(dict[int, int | str | None]):
    """A translation table that decides about a character when it is first met."""

    def __init__(self, keep: frozenset[int] = frozenset(), *, same_length: bool = False) -> None:
        super().__init__()
        self._keep, self._same_length = keep, same_length

    def __missing__(self, code: int) -> int | str | None:
        shown = code if code in self._keep else _picture(code)
        if self._same_length and (shown is None or code in _JOINERS):
            shown = MARK
        self[code] = shown
        return shown


def _picture(code: int) -> int | str | None:
    """What is drawn for one character: itself, its control picture, a mark, or nothing."""
    if code < 0x20:
        return 0x2400 + code
    if code == 0x7F:
        return 0x2421
    if code in _SELECTORS:
        return None
    if code in _JOINERS:
        return code
    if code in _BLANK_LETTERS or unicodedata.category(chr(code)) in _HIDDEN_CATEGORIES:
        return MARK
    return code


_LINE: Final = _Pictures()
_BLOCK: Final = _Pictures(frozenset({0x09, 0x0A}))
_EDITED: Final = _Pictures(same_length=True)
_JOINER: Final = re.compile("(.?)([\u200c\u200d])(?=(.?))", re.DOTALL)


def clean(text: str) -> str:
    """One line of text that is safe to draw: ``ESC`` becomes ``␛``, a line feed ``␊``, bidi and zero-width characters ``�``."""
    if text.isascii() and text.isprintable():
        return text
    return _tame(text.translate(_LINE))


def clean_block(text: str) -> str:
    """Several lines of text that are safe to draw: line feeds and tabs stay, Windows line ends become plain ones."""
    return _tame(text.replace("\r\n", "\n").translate(_BLOCK))


def visible(text: str) -> str:
    """One line that is being edited: like :func:`clean`, but character for character, so that a cursor stays where it is."""
    return text if text.isascii() and text.isprintable() else text.translate(_EDITED)


def _tame(text: str) -> str:
    if text.isascii():
        return text
    if "\u200d" in text or "\u200c" in text:
        text = _JOINER.sub(_joined, text)
    text = _TONES.sub("", text)
    return _fewer_marks(text)


def _joined(match: re.Match[str]) -> str:
    """A joiner where a script or an emoji needs one is dropped (the parts are drawn side by side); elsewhere it is a trick."""
    before, _, after = match.groups()
    return before if _joins(before) and _joins(after) else before + MARK


def _joins(character: str) -> bool:
    return bool(character) and not character.isascii() and unicodedata.category(character)[0] in "LMS"


def _fewer_marks(text: str) -> str:
    """Combining marks without a letter get a circle to stand on; towers of marks are cut."""
    if not any(map(unicodedata.combining, text)):
        return text
    kept: list[str] = []
    height = 0
    for character in text:
        if not unicodedata.combining(character):
            height = 0
        elif height >= _MAX_MARKS:
            continue
        else:
            height += 1
            if not kept or kept[-1] in "\n\t":
                kept.append("◌")
        kept.append(character)
    return "".join(kept)

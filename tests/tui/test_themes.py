"""The tokens: one place for colours, enough contrast, and every state word drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.color import Color

import studio_tui.tui
from studio_tui.application.models.common import StateWord
from studio_tui.tui import statuses
from studio_tui.tui.safe_text import cells
from studio_tui.tui.themes import PALETTES, TOKENS, themes

SOURCE = Path(studio_tui.tui.__file__).parent
STATES = ("run", "ok", "fail", "warn", "gate", "mute")
TRUE_COLOR = ("dark", "light", "contrast")


def _contrast(first: str, second: str) -> float:
    """WCAG contrast ratio."""

    def luminance(value: str) -> float:
        parts = [part / 255 for part in Color.parse(value).rgb]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", TRUE_COLOR)
@pytest.mark.parametrize("token", ["ink", "soft", "accent", *STATES])
def test_text_and_states_can_be_read(name: str, token: str) -> None:
    tokens = PALETTES[name].tokens
    assert _contrast(tokens[token], tokens["ground"]) >= 4.5


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_the_picked_row_and_the_quiet_ink_can_be_read(name: str) -> None:
    tokens = PALETTES[name].tokens
    assert _contrast(tokens["ink"], tokens["pick"]) >= 7
    assert _contrast(tokens["faint"], tokens["ground"]) >= 3
    assert all(_contrast(tokens[token], tokens["pick"]) >= 3 for token in ("soft", *STATES))
    assert all(_contrast(tokens[token], tokens["raised"]) >= 4 for token in ("ink", "soft", "accent", "fail", "ok", "run"))


def test_high_contrast_has_more() -> None:
    tokens = PALETTES["contrast"].tokens
    assert all(_contrast(tokens[token], tokens["ground"]) >= 7 for token in ("ink", "soft", "faint", *STATES))


def test_every_theme_has_every_token() -> None:
    for theme in themes():
        assert set(TOKENS) <= set(theme.variables)


@pytest.mark.parametrize("name", ["ansi", "mono"])
def test_terminals_with_few_colours_get_none_of_ours(name: str) -> None:
    palette = PALETTES[name]
    for token in TOKENS:
        style = palette.style(token)
        assert style.color is None or style.color.triplet is None
        assert style.bgcolor is None or style.bgcolor.triplet is None
    assert palette.style("fail", "pick").reverse


def test_no_colour_stands_anywhere_else() -> None:
    colour = re.compile(r"#[0-9a-fA-F]{6}\b|\brgb\(|#[0-9a-fA-F]{3}\b")
    for file in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.tcss")]:
        if file.name != "themes.py":
            assert not colour.search(file.read_text()), file


def test_every_state_word_has_a_look_of_its_own() -> None:
    assert set(statuses.LOOKS) == {str(word) for word in StateWord}
    for word, look in statuses.LOOKS.items():
        assert cells(look.glyph) == 1
        assert look.ascii.isascii()
        assert len(look.ascii) == 1
        assert look.token in TOKENS
        assert cells(word) + 2 <= statuses.STATE_WIDTH


def test_an_unknown_word_is_drawn_as_unknown() -> None:
    assert statuses.state_glyph("zombie") == statuses.state_glyph("UNSURE")
    assert statuses.state_cell("zombie")[1][0] == "zombie"

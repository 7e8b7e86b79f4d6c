"""The literal-text gate: nothing that a terminal or a bidi algorithm acts on comes through, and nothing is markup."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from studio_tui.application.text import clean, clean_block, visible
from studio_tui.tui.safe_text import block, cells, cut, fold, line, plain, styled
from tests.tui.conftest import nasty_strings

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _is_drawable(text: str, allowed: str = "") -> bool:
    return all(character in allowed or unicodedata.category(character) not in _HIDDEN for character in text)


@pytest.mark.parametrize("text", nasty_strings())
def test_nothing_hidden_comes_through(text: str) -> None:
    assert _is_drawable(clean(text))
    assert _is_drawable(clean_block(text), "\n\t")
    assert _is_drawable(visible(text))
    assert _is_drawable(plain(text).plain)
    assert _is_drawable(styled(("name ", "$soft"), (text, "$ink")).plain, "\n\t")
    assert _is_drawable(cut(text, 12))


@given(st.text(alphabet=st.characters(codec=None)))
def test_clean_is_idempotent_and_drawable(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert _is_drawable(once)
    blocked = clean_block(text)
    assert clean_block(blocked) == blocked


@given(st.text(alphabet=st.characters(codec=None)))
def test_an_edited_line_keeps_its_length(text: str) -> None:
    assert len(visible(text)) == len(text)


@given(st.text(alphabet=st.characters(codec=None), max_size=80), st.integers(0, 40))
def test_a_cut_text_is_never_wider_than_asked(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("esc \x1b[31m", "esc ␛[31m"),
        ("bell \a", "bell ␇"),
        ("two\nlines\tand", "two␊lines␉and"),
        ("c1 \x9b2J", "c1 �2J"),
        ("\x85nel\u2028ls\u2029ps", "�nel�ls�ps"),
        ("user\u202enimda\u202c", "user�nimda�"),
        ("zero\u200bwidth", "zero�width"),
        ("a\u200db", "a�b"),
        ("\ufeffbom", "�bom"),
        ("\udc80file", "�file"),
        ("⚠️ disk", "⚠ disk"),
        ("👩\u200d💻 dev", "👩💻 dev"),
        ("👍🏽 ok", "👍 ok"),
        ("a" + "\u0301" * 9, "a" + "\u0301" * 4),
        ("\u0301lone", "◌\u0301lone"),
        ("می\u200cخواهم", "میخواهم"),
        ("日本語", "日本語"),
        ("[/nope] [bold]x[/bold]", "[/nope] [bold]x[/bold]"),
    ],
)
def test_marks_stand_for_what_is_not_drawn(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_content_is_never_markup() -> None:
    hostile = "[@click=app.quit]press[/] [/x] [$primary]"
    assert plain(hostile).plain == hostile
    assert styled((hostile, "$ink")).plain == hostile
    assert not plain(hostile).spans
    assert [span.style for span in styled("a ", ("b", "bold $fail"), Content("[c]")).spans] == ["bold $fail"]


def test_wide_letters_are_cut_between_letters() -> None:
    assert cut("日本語の名前", 6) == "日本…"
    assert cells(cut("日本語の名前", 5)) == 5
    assert cut("short", 5) == "short"
    assert cut("longer", 5) == "long…"
    assert cut("anything", 0) == ""


def test_a_huge_line_is_bounded_before_it_is_looked_at() -> None:
    assert len(line("x" * 5_000_000)) == 400
    assert cells(cut("x" * 5_000_000, 40)) == 40


def test_blocks_fold_long_lines_and_keep_the_text() -> None:
    assert fold("ab\r\ncd", 10) == ["ab", "cd"]
    assert fold("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert fold("") == [""]
    assert block("a\nb\x1b").plain == "a\nb␛"

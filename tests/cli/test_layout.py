"""Tables and figures as people read them."""

from __future__ import annotations

import io
import sys

import pytest

from studio_tui.cli.layout import Column, cells, cut, print_facts, print_table
from studio_tui.cli.words import ago, count, due, moment, money, size, span

COLUMNS = (Column("STATE"), Column("NAME", gives=2), Column("COST", right=True), Column("WHY", gives=1))


class Screen(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def a_screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Print to a terminal of forty columns from now on."""
    stream = Screen()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    return stream


def test_columns_are_aligned_by_the_cells_that_text_takes(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [("OK", "日本語", "$1.00", ""), ("FAIL", "plain name", "$12.50", "because")], empty="none")
    assert capsys.readouterr().out.splitlines() == [
        "STATE  NAME          COST  WHY",
        "OK     日本語       $1.00",
        "FAIL   plain name  $12.50  because",
    ]


def test_nothing_is_cut_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [("OK", "n" * 300, "", "w" * 300)], empty="none")
    assert "w" * 300 in capsys.readouterr().out


def test_a_narrow_terminal_cuts_the_reason_first_then_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = a_screen(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    print_table(COLUMNS, [("OK", "a name of twenty char", "$1.00", "a reason that goes on and on")], empty="none")
    _, row = screen.getvalue().splitlines()
    assert row == "OK     a name of twent…  $1.00  a reaso…"
    assert cells(row) == 40


def test_evidence_goes_on_in_further_lines_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = a_screen(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    columns = (Column("IS"), Column("FINDING", gives=1, wraps=True))
    print_table(columns, [("warn", "nobody hosts it, so no schedule fires; run " + "studio-tui-" * 5 + "x")], empty="none")
    lines = screen.getvalue().splitlines()
    assert max(map(cells, lines)) <= 40
    assert lines[1:3] == ["warn  nobody hosts it, so no schedule", "      fires; run"]
    assert "".join(line.strip() for line in lines[3:]) == "studio-tui-" * 5 + "x"


def test_states_have_colours_on_a_terminal_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = a_screen(monkeypatch)
    print_table((Column("STATE"),), [("FAIL",)], empty="none")
    assert "\x1b[31mFAIL\x1b[0m" in screen.getvalue()
    screen.truncate(0)
    monkeypatch.setenv("NO_COLOR", "1")
    print_table((Column("STATE"),), [("FAIL",)], empty="none")
    assert "\x1b" not in screen.getvalue()


def test_text_from_outside_cannot_reach_the_terminal_raw(capsys: pytest.CaptureFixture[str]) -> None:
    nasty = "a\x1b]52;c;aGk=\x07b\u202ec\nd"
    print_table((Column("NAME"),), [(nasty,)], empty="none")
    print_facts([("name", nasty), ("nothing", None), ("empty", "")])
    said = capsys.readouterr().out
    assert said.count("\n") == 3
    assert not any(character in said for character in "\x1b\x07\u202e")


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [], empty="no runs")
    assert capsys.readouterr().out == "no runs\n"


def test_cut_keeps_within_the_width() -> None:
    assert [cut("abc", 3), cut("abcd", 3), cut("日本語", 4)] == ["abc", "ab…", "日…"]


def test_words() -> None:
    assert [span(None), span(0.4), span(59), span(61), span(7300), span(200_000)] == ["", "0s", "59s", "1m", "2h", "2d"]
    assert [ago(None, 10), ago(10, 70), ago(130, 70)] == ["", "1m", "in 1m"]
    assert [due(None, 10), due(10, 70), due(130, 70)] == ["", "1m late", "in 1m"]
    assert [money(None), money(0), money(0.0031), money(2.5)] == ["-", "$0.00", "$0.0031", "$2.50"]
    assert [count(None), count(1234567)] == ["", "1,234,567"]
    assert [size(None), size(12), size(2048), size(3 * 1024**3)] == ["", "12 B", "2 KiB", "3.0 GiB"]
    assert [moment(None), moment(1_796_000_000.0)] == ["", "2026-11-30 00:53:20 UTC"]

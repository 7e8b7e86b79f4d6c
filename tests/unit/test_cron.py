from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.domain import cron
from studio_tui.domain.cron import ALIASES, CronError, parse_cron
from studio_tui.domain.cron_advice import cron_advice
from studio_tui.domain.cron_words import cron_words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty", "five fields"]),
        ("   \n", ["empty"]),
        ("0 6 * *", ["4 fields", "five fields"]),
        ("0", ["1 field given"]),
        ("0 0 1 1 * 0 2027 5", ["8 fields"]),
        ("60 * * * *", ["minute '60'", "0-59"]),
        ("*/0 * * * *", ["minute '*/0'"]),
        ("0 24 * * *", ["hour '24'", "0-23"]),
        ("0 0 32 * *", ["day of month '32'", "1-31"]),
        ("0 0 0 * *", ["day of month '0'"]),
        ("0 0 1 13 *", ["month '13'", "jan-dec"]),
        ("0 0 * * 8", ["weekday '8'", "sun-sat"]),
        ("0 0 * * 5#6", ["weekday '5#6'"]),
        ("a * * * *", ["minute 'a'"]),
        ("1,2,,3 * * * *", ["minute '1,2,,3'"]),
        ("-1 * * * *", ["minute '-1'"]),
        ("1.5 * * * *", ["minute '1.5'"]),
        ("0 0 1 1 * 61", ["second '61'", "0-59"]),
        ("0 0 1 1 * 0 1969", ["year '1969'", "1970-2099"]),
        ("0 12 * * * 2027", ["sixth field is seconds here, not a year", "seventh field"]),
        ("* * * * * *", ["every second", "interval trigger"]),
        ("0-59 */1 * * * */1", ["every second"]),
        ("0 0 * * 5L", ["weekday", "L5"]),
        ("0 0 * * FRIL", ["weekday", "Lfri"]),
        ("0 0 1W * *", ["nearest working day", "not supported"]),
        ("0 0 LW * *", ["nearest working day"]),
        ("H * * * *", ["random"]),
        ("R(1-5) * * * *", ["random"]),
        ("0 0 * * 1,L5", ["weekday '1,l5'"]),
        ("０ 9 * * *", ["'０' is not allowed", "ASCII"]),
        ("0 9 * * 1\u200b", ["is not allowed"]),
        ("@reboot", ["@reboot is not supported", "interval trigger", "@daily"]),
        ("@every 5m", ["@every is not supported", "interval trigger"]),
        ("0 0 30 2 *", ["never happens"]),
        ("0 0 31 2 *", ["never happens"]),
        ("0 0 29 2 * 0 2027", ["never happens"]),
        ("0," * 1200 + "0 * * * *", ["longer than"]),
    ],
)
def test_an_expression_is_refused_with_the_field_and_what_is_allowed(text: str, parts: list[str]) -> None:
    with pytest.raises(CronError) as refused:
        parse_cron(text)
    for part in parts:
        assert part in str(refused.value)


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_trimmed_and_its_case_does_not_matter(alias: str) -> None:
    assert parse_cron(f"  {alias.upper()}\n").text == ALIASES[alias]


@pytest.mark.parametrize("text", ["0 9 ? * 1", "0 0 * jan-mar mon-fri", "0 0 * * L5", "0 0 L * *", "5/15 * * * *", "0 9 * * 1#1"])
def test_the_grammar_of_the_peer_is_accepted(text: str) -> None:
    assert parse_cron(text).next_wall(0) is not None


@pytest.mark.parametrize("text", ["0 0 31 2 *", "0 0 31 4,6,9,11 *", "* * 31 2 *", "0 0 31 2 1#5", "0 0 30 2 * 0 2030"])
def test_an_impossible_date_is_searched_for_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CronError, match="never happens"):
        parse_cron(text)
    monkeypatch.setattr(cron, "_read", lambda *asked: pytest.fail("the calendar was searched again"))
    with pytest.raises(CronError, match="never happens"):
        parse_cron(text)


def test_leap_days_skip_the_year_2100() -> None:
    found = parse_cron("0 0 29 2 *").next_wall(3_981_312_000)  # 2096-03-01
    assert found == 4_233_686_400  # 2104-02-29


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    _read_or_refused(text)


_ITEM = st.sampled_from(
    [*"0123456789*?", "*/7", "1-5", "5-1", "L", "L5", "1#1", "W", "jan", "mon", "R", "H", "/", ",", "-", "99"]
)


@given(st.lists(st.lists(_ITEM, min_size=1, max_size=3).map("".join), min_size=4, max_size=8).map(" ".join))
def test_whatever_looks_like_cron_is_read_or_refused_in_words(text: str) -> None:
    _read_or_refused(text)


def _read_or_refused(text: str) -> None:
    try:
        expression = parse_cron(text)
    except CronError:
        return
    assert expression.next_wall(-1) is not None
    assert cron_words(expression)
    cron_advice(expression)

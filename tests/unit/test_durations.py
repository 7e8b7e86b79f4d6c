from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.domain.durations import MAX_DURATION, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2s", 2), ("15m", 900), ("1h", 3600), ("7d", 604_800), ("1h30m", 5400), (" 6H ", 21_600), ("1d12h5m3s", 129_903)],
)
def test_a_length_of_time_is_read(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no length of time given"),
        ("   ", "no length of time given"),
        ("90", "has no unit"),
        ("5min", "is not a length of time"),
        ("1.5h", "is not a length of time"),
        ("-5m", "is not a length of time"),
        ("５m", "is not a length of time"),
        ("m", "is not a length of time"),
        ("0s", "is no time at all"),
        ("30m1h", "out of order"),
        ("1h1h", "twice"),
        ("40000d", "longer than a hundred years"),
        ("9999999999999999s", "is not a length of time"),
    ],
)
def test_what_is_no_length_of_time_is_refused_with_what_is_allowed(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part) as refused:
        parse_duration(text)
    assert "30s, 15m, 6h, 7d" in str(refused.value) or "hundred years" in str(refused.value)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (2, "2 s"),
        (0.25, "0.25 s"),
        (90, "1 min 30 s"),
        (900, "15 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (604_800, "7 d"),
        (90_061, "1 d 1 h 1 min 1 s"),
        (-1, "unknown"),
        (float("nan"), "unknown"),
        (float("inf"), "unknown"),
    ],
)
def test_a_length_of_time_is_written(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@given(st.integers(1, MAX_DURATION))
def test_what_is_written_says_exactly_what_was_read(seconds: int) -> None:
    assert parse_duration(format_duration(seconds).replace("min", "m").replace(" ", "")) == seconds


@given(st.text())
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert 0 < seconds <= MAX_DURATION

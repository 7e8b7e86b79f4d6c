"""Short words for times, lengths, money and counts; odd values are marked and never raise."""

from __future__ import annotations

import math
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.tui import format as fmt

NOW = 1_773_285_120.0  # 2026-03-12 03:12:00 UTC
ODD = [None, float("nan"), math.inf, -math.inf, -1.0, 0.0, 1e18, 1.7e12, 2**70, "text", True]


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (NOW, "03:12"),
        (NOW - 3 * 3600, "00:12"),
        (NOW - 4 * 3600, "yday"),
        (NOW - 28 * 3600, "10 Mar"),
        (NOW - 100 * 86400, "2 Dec"),
        (NOW - 300 * 86400, "2025-05"),
        (NOW + 30, "03:12"),
        (NOW + 3600, "04:12?"),
        (NOW + 3 * 86400, "15 Mar?"),
        (None, "–"),
        (float("nan"), "bad"),
        (-1.0, "bad"),
        (1e18, "bad"),
    ],
)
def test_when(at: float | None, shown: str) -> None:
    assert fmt.when(at, NOW, UTC) == shown


def test_when_reads_the_zone_it_is_given() -> None:
    assert fmt.when(NOW - 3.2 * 3600, NOW, UTC) == "00:00"
    assert fmt.when(NOW - 3.2 * 3600, NOW, timezone(timedelta(hours=1))) == "01:00"
    assert fmt.stamp(NOW, timezone(timedelta(hours=1), "CET")) == "2026-03-12 04:12:00 CET"
    assert fmt.stamp(1e18) == "1e+18 (no such time)"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (0.42, "0.4s"),
        (42, "42s"),
        (62, "1m02"),
        (240, "4m"),
        (2920, "48m40"),
        (3 * 3600, "3h"),
        (3 * 3600 + 300, "3h05"),
        (2 * 86400 + 4 * 3600, "2d04h"),
        (-5, "0s?"),
        (None, "–"),
        (math.inf, "bad"),
    ],
)
def test_duration(seconds: float | None, shown: str) -> None:
    assert fmt.duration(seconds) == shown


@pytest.mark.parametrize(
    ("left", "shown"),
    [(8, "8s"), (184, "3m 04s"), (1990, "33m 10s"), (10_620, "2h 57m"), (3 * 86400 + 3600, "3d 1h"), (0, "due"), (-9, "due")],
)
def test_countdown(left: float, shown: str) -> None:
    assert fmt.countdown(NOW + left, NOW) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0.09, "0.09"), (0, "0.00"), (0.001, "<.01"), (12.4, "12.40"), (1204, "1\u2009204"), (None, "–"), (-1, "-1.00?")],
)
def test_money(usd: float | None, shown: str) -> None:
    assert fmt.money(usd) == shown


def test_other_figures() -> None:
    assert fmt.age(NOW - 41 * 60, NOW) == "41m"
    assert fmt.age(NOW + 999, NOW) == "0s?"
    assert fmt.duration(3600, approximate=True) == "~1h"
    assert fmt.money(1.8, at_least=True) == ">1.80"
    assert (fmt.tokens(312), fmt.tokens(12_400), fmt.tokens(1_240_000)) == ("312", "12k", "1.2M")
    assert (fmt.size(412), fmt.size(41_000), fmt.size(1_240_000)) == ("412 B", "41 kB", "1.2 MB")
    assert fmt.count(1_234_567) == "1\u2009234\u2009567"
    assert fmt.clock(NOW, UTC) == "03:12"


@pytest.mark.parametrize("value", ODD)
def test_no_odd_value_raises(value: object) -> None:
    for function in (fmt.when, fmt.age, fmt.countdown):
        assert isinstance(function(value, NOW), str)  # type: ignore[arg-type]
    for shown in (fmt.stamp, fmt.duration, fmt.money, fmt.count, fmt.tokens, fmt.size):
        assert isinstance(shown(value), str)  # type: ignore[arg-type]


@given(st.floats(), st.floats(0, 4e9))
def test_lengths_are_never_negative_and_short(value: float, now: float) -> None:
    assert not fmt.duration(value).startswith("-")
    assert not fmt.countdown(value, now).startswith("-")
    assert len(fmt.when(value, now, UTC)) <= 9

from __future__ import annotations

import pytest

from studio_tui.domain.cron import parse_cron
from studio_tui.domain.cron_advice import cron_advice
from studio_tui.domain.cron_words import cron_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 min"),
        ("0,15,30,45 * * * *", "every 15 min"),
        ("45 * * * *", "hourly at :45"),
        ("@hourly", "hourly at :00"),
        ("10/20 * * * *", "hourly at :10, :30, :50"),
        ("*/90 * * * *", "hourly at :00"),
        ("*/7 * * * *", "every 7 min from :00"),
        ("0 */6 * * *", "every 6 h at :00"),
        ("0 9-17 * * *", "hourly 09:00-17:00"),
        ("*/10 9-17 * * mon-fri", "every 10 min 09:00-17:50, Mon-Fri"),
        ("0 2 * * *", "daily 02:00"),
        ("0 2,14 * * *", "daily 02:00, 14:00"),
        ("0 22-2 * * *", "daily 00:00, 01:00, 02:00, 22:00, 23:00"),
        ("0 5 * * 1", "Mon 05:00"),
        ("0 0 * * 0,7", "Sun 00:00"),
        ("0 0 * * FRI-MON", "Mon, Fri-Sun 00:00"),
        ("0 0 * * 1-7/2", "Mon, Wed, Fri, Sun 00:00"),
        ("0 0 1,15 * *", "day 1, 15 of the month 00:00"),
        ("0 0 */2 * *", "every 2 days from day 1 of the month 00:00"),
        ("0 0 L * *", "last day of the month 00:00"),
        ("0 0 1,L * *", "day 1 and last day of the month 00:00"),
        ("0 0 * * L5", "last Fri of the month 00:00"),
        ("0 9 * * 1#1", "first Mon of the month 09:00"),
        ("0 9 3 * 1#1", "first Mon of the month 09:00"),
        ("@yearly", "1 Jan 00:00"),
        ("0 3 * 1-3 *", "daily 03:00 in Jan-Mar"),
        ("0 0 29 2 *", "29 Feb 00:00"),
        ("0 9 1-7 * 1", "09:00 on day 1-7 of the month or any Mon"),
        ("0 0 29 2 1", "00:00 on day 29 of the month or any Mon in Feb"),
        ("0 0 1-31 * 1", "daily 00:00"),
        ("*/30 * * * * *", "every second during minutes 0, 30 of every hour"),
        ("0 0 12 * * *", "every second during minute 0 of hour 0, day 12 of the month"),
        ("* * * * * */10", "every 10 s during every minute of every hour"),
        ("0 9 1 12 * 0 2026", "1 Dec 09:00 in 2026"),
        ("1-7 0-2,22 * * *", "minutes 1 through 7 past the hour, at 00:00, 01:00, 02:00, and 22:00"),
        ("*/7 3 * * *", "at 0, 7, 14, 21, 28, 35, 42, 49, and 56 minutes past the hour, at 03:00"),
        ("1-9 3 * * 1#1", "every minute between 03:01 and 03:09, on the first Monday of the month"),
        (
            "1-9 3 1 * 5",
            "every minute between 03:01 and 03:09, on day 1 of the month; "
            "and also every minute between 03:01 and 03:09, only on Friday",
        ),
    ],
)
def test_an_expression_is_said_by_the_values_that_match(text: str, words: str) -> None:
    assert cron_words(parse_cron(text)) == words


def test_words_do_not_depend_on_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert "minutes past the hour" in cron_words(parse_cron("*/7 4 * * *"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("0 9 1-7 * 1", ["either day matches", "first Mon of the month write 0 9 * * 1#1"]),
        ("30 4 15-21 * fri", ["either day matches", "third Fri of the month write 30 4 * * 5#3"]),
        ("0 0 29 2 1", ["either day matches"]),
        ("0 0 13 * 5", ["either day matches"]),
        ("0 9 */2 * 1", ["either day matches", "a * step in the day of the month is a restriction too"]),
        ("0 0 1-31 * 1", ["fires on every day"]),
        ("0 9 3 * 1#1", ["day of the month has no effect"]),
        ("*/90 * * * *", ["step of 90 is larger than the field", "hourly at :00", "interval trigger"]),
        ("0 */48 * * *", ["larger than the field", "daily 00:00"]),
        ("*/7 * * * *", ["after minute 56 the next one comes 4 minutes later"]),
        ("0 */5 * * *", ["begins anew each day", "after hour 20 the next one comes 4 hours later"]),
        ("*/59 * * * *", ["after minute 59 the next one comes 1 minute later"]),
        ("*/30 * * * * *", ["more than once a minute", "every second during minutes 0, 30", "write * * * * * */30"]),
        ("0 0 12 * * *", ["minute 0, hour 0, day of month 12", "write 0 12 * * * 0"]),
        ("0 9 1 12 * 0 2026", ["sixth field is seconds, the seventh years", "minute 0, hour 9"]),
    ],
)
def test_an_author_is_warned(text: str, parts: list[str]) -> None:
    said = "\n".join(cron_advice(parse_cron(text)))
    for part in parts:
        assert part in said


@pytest.mark.parametrize("text", ["0 9 * * 1", "*/15 * * * *", "0 */6 * * *", "0 9 ? * 1", "0 9 1 * ?", "*/7 3 * * *", "@daily"])
def test_nothing_is_said_where_nothing_is_odd(text: str) -> None:
    assert cron_advice(parse_cron(text)) == ()

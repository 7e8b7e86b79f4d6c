"""Cron expressions: which are accepted, what their fields hold, and the next wall time that matches.

Field order as croniter (and so lionagi 0.36) reads it: minute, hour, day of month, month, weekday, then optionally seconds,
then optionally years. A day matches when either of two restricted day fields does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from croniter import croniter

MAX_LENGTH: Final = 2_000
"""Characters of the longest expression accepted."""

ALIASES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

_EXAMPLE: Final = "five fields (minute hour day month weekday) are wanted, such as 0 9 * * 1, or an alias such as @daily"
_SEARCH_YEARS: Final = 130  # reaches from 1970 to the last year that a year field may name
_RANDOM: Final = re.compile(r"[hr](\(.*\))?(/.*)?\Z")
_NEAREST: Final = re.compile(r"\d+w\Z|w\d+\Z|lw\Z|wl\Z")
_LAST_AFTER: Final = re.compile(r"([0-7]|[a-z]{3})l\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the grammar: its name, the values it may take, and what an error says is allowed."""

    name: str
    low: int
    high: int
    allowed: str


FIELDS: Final = (
    Field("minute", 0, 59, "0-59"),
    Field("hour", 0, 23, "0-23"),
    Field("day of month", 1, 31, "1-31, or L for the last day"),
    Field("month", 1, 12, "1-12 or jan-dec"),
    Field("weekday", 0, 6, "0-7 (0 and 7 are Sunday) or sun-sat, L5 for the last Friday, 1#2 for the second Monday"),
    Field("second", 0, 59, "0-59"),
    Field("year", 1970, 2099, "1970-2099"),
)
MINUTE, HOUR, DAY, MONTH, WEEKDAY, SECOND, YEAR = range(7)


class CronError(ValueError):
    """The expression is not accepted; the message says why and what is allowed."""


@dataclass(frozen=True, slots=True)
class CronExpression:
    """An accepted expression.

    ``text`` is normalized; ``tokens`` are its fields as written; ``values`` what each matches, ``None`` for a field that is
    not restricted. ``last_day`` tells that the last day of the month is among the days; ``nth`` maps weekdays to their
    positions in the month (``"l"`` is the last).
    """

    text: str
    tokens: tuple[str, ...]
    values: tuple[frozenset[int] | None, ...]
    last_day: bool
    nth: tuple[tuple[int, tuple[int | str, ...]], ...]

    @property
    def every_hour(self) -> bool:
        """Whether no hour is named: the job goes by real time instead of by the times of a day."""
        return self.covers(HOUR)

    @property
    def has_years(self) -> bool:
        """Whether it may come to an end."""
        return len(self.tokens) > YEAR and self.values[YEAR] is not None

    @property
    def either_day(self) -> bool:
        """Whether both day fields are restricted, so that a day matches by either."""
        return self.values[DAY] is not None and self.values[WEEKDAY] is not None

    @property
    def any_day(self) -> bool:
        """Whether every day of a month that matches does."""
        by_month, by_week = self.covers(DAY), self.covers(WEEKDAY) and not self.nth
        return (by_month or by_week) if self.either_day and not self.nth else by_month and by_week

    def matching(self, index: int) -> tuple[int, ...]:
        """The values that a field matches, in order."""
        values = self.values[index] if index < len(self.values) else None
        return tuple(range(FIELDS[index].low, FIELDS[index].high + 1)) if values is None else tuple(sorted(values))

    def covers(self, index: int) -> bool:
        """Whether a field leaves nothing out."""
        values = self.values[index] if index < len(self.values) else None
        return values is None or len(values) == FIELDS[index].high - FIELDS[index].low + 1

    def next_wall(self, after: int) -> int | None:
        """The first matching wall time after ``after`` (whole seconds), or ``None`` when none is left."""
        try:
            return int(_read(self.text, after).get_next(float))
        except (OverflowError, ValueError):  # croniter's "no such date" is a ValueError
            return None


def _read(text: str, after: int = 0) -> croniter:
    from croniter import croniter  # imported at the first cron expression: it costs what half a one-shot command takes

    return croniter(text, float(after), max_years_between_matches=_SEARCH_YEARS)


def parse_cron(text: str) -> CronExpression:
    """The expression that ``text`` says. Raises :class:`CronError`."""
    answer = _judged(text)
    if isinstance(answer, str):
        raise CronError(answer)
    return answer


@lru_cache(maxsize=1024)
def _judged(text: str) -> CronExpression | str:
    """The expression, or why it is not accepted: a refusal costs a search of a century of days and is asked for again too."""
    try:
        return _accepted(_normalize(text))
    except CronError as error:
        return str(error)


def _accepted(text: str) -> CronExpression:
    tokens = tuple(text.split(" "))
    _check_tokens(tokens)
    try:
        read = _read(text)
    except Exception as error:  # croniter raises KeyError, TypeError and others on odd text
        raise _explained(tokens, error) from None
    expression = CronExpression(
        text,
        tokens,
        tuple(_values(field) for field in read.expanded),
        "l" in read.expanded[DAY],
        tuple(sorted((day, tuple(sorted(at, key=str))) for day, at in read.nth_weekday_of_month.items())),
    )
    if len(tokens) > SECOND and all(expression.covers(index) for index in range(7)):
        raise CronError("this fires every second without end; use an interval trigger if that is meant")
    if expression.next_wall(-1) is None:
        raise CronError(f"{text!r} never happens: no such date exists")
    return expression


def _values(expanded: Sequence[int | str]) -> frozenset[int] | None:
    return None if expanded == ["*"] else frozenset(value for value in expanded if isinstance(value, int))


def _normalize(text: str) -> str:
    cleaned = " ".join(text.split()).lower()
    if not cleaned:
        raise CronError(f"the expression is empty; {_EXAMPLE}")
    if len(cleaned) > MAX_LENGTH:
        raise CronError(f"the expression is longer than {MAX_LENGTH} characters")
    odd = next((character for character in cleaned if not " " <= character <= "~"), None)
    if odd is not None:
        raise CronError(f"{odd!r} is not allowed: only plain ASCII digits, letters and * / , - # ? are")
    if not cleaned.startswith("@"):
        return cleaned
    if cleaned in ALIASES:
        return ALIASES[cleaned]
    alias = cleaned.split(" ")[0]
    raise CronError(f"{alias} is not supported; use an interval trigger to fire every so often, or one of {', '.join(ALIASES)}")


def _check_tokens(tokens: tuple[str, ...]) -> None:
    if not 5 <= len(tokens) <= 7:
        raise CronError(f"{len(tokens)} {'field' if len(tokens) == 1 else 'fields'} given; {_EXAMPLE}")
    for index, token in enumerate(tokens):
        for item in token.split(","):
            if _RANDOM.match(item):
                raise CronError(f"{FIELDS[index].name}: {item!r} picks a random time that no preview could show; name it")
            if index == DAY and _NEAREST.match(item):
                raise CronError(f"{FIELDS[index].name}: {item!r} (nearest working day) is not supported; name days or weekdays")
            if index == WEEKDAY and (last := _LAST_AFTER.match(item)):
                raise CronError(f"{FIELDS[index].name}: {item!r} is not understood; the last such day is written L{last[1]}")


def _explained(tokens: tuple[str, ...], error: Exception) -> CronError:
    """Name the field that is wrong by trying each alone."""
    for index, token in enumerate(tokens):
        alone = ["*"] * max(5, index + 1)
        alone[index] = token
        try:
            _read(" ".join(alone))
        except Exception:
            return CronError(f"{_field_fault(index, token)}; allowed: {FIELDS[index].allowed}")
    return CronError(f"these fields do not go together: {error}")


def _field_fault(index: int, token: str) -> str:
    if index == SECOND and re.fullmatch(r"(19|20)\d\d", token):
        return f"the sixth field is seconds here, not a year, and {token!r} is no second (a year is the seventh field)"
    return f"{FIELDS[index].name} {token!r} is not understood"

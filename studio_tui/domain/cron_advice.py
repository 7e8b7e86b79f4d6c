"""Where a cron expression means something else than its author is likely to expect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from studio_tui.domain.cron import DAY, FIELDS, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR, CronError, CronExpression, parse_cron
from studio_tui.domain.cron_words import WEEKDAYS, cron_words

_STEP: Final = re.compile(r"(?:\*|(\d+)(?:-(\d+))?)/(\d+)\Z")
_CYCLES: Final = {MINUTE: "hour", HOUR: "day", DAY: "month", MONTH: "year", WEEKDAY: "week", SECOND: "minute"}


def cron_advice(expression: CronExpression) -> tuple[str, ...]:
    """Remarks in words, most important first."""
    return (*_seconds(expression), *_either_day(expression), *_steps(expression))


def _seconds(expression: CronExpression) -> Iterator[str]:
    if len(expression.tokens) <= SECOND:
        return
    if len(expression.matching(SECOND)) > 1:
        yield f"more than once a minute: {cron_words(expression)}"
    years = ", the seventh years" if len(expression.tokens) > YEAR else ""
    yield f"the sixth field is seconds{years}: this is read as {_read_as(expression)}{_seconds_first_hint(expression)}"


def _read_as(expression: CronExpression) -> str:
    return ", ".join(f"{FIELDS[index].name} {token}" for index, token in enumerate(expression.tokens) if token not in "*?")


def _seconds_first_hint(expression: CronExpression) -> str:
    """How to write what the same fields mean to those who put seconds first, where that is an expression at all."""
    first, *rest = expression.tokens
    meant = " ".join((*rest, first))
    if meant == expression.text or len(expression.tokens) > YEAR:
        return ""
    try:
        parse_cron(meant)
    except CronError:
        return ""
    return f"; if the first field was meant as seconds, write {meant}"


def _either_day(expression: CronExpression) -> Iterator[str]:
    if not expression.either_day:
        return
    if expression.nth:
        yield "beside a weekday with # or L the day of the month has no effect: set one of the two"
        return
    if expression.any_day:
        yield "either day matches, and one of the two fields names all days: it fires on every day"
        return
    star = " (a * step in the day of the month is a restriction too)" if expression.tokens[DAY].startswith("*/") else ""
    yield f"day of month and weekday are both set: either day matches, not only days that fit both{star}{_nth_hint(expression)}"


def _nth_hint(expression: CronExpression) -> str:
    """The expression for "the first Monday", where the days of one week and one weekday were written to mean that."""
    days, weekdays = expression.matching(DAY), expression.matching(WEEKDAY)
    week = (days[0] - 1) // 7 + 1 if days else 0
    if len(weekdays) != 1 or expression.last_day or days != tuple(range(7 * week - 6, 7 * week + 1)):
        return ""
    tokens = list(expression.tokens)
    tokens[DAY], tokens[WEEKDAY] = "*", f"{weekdays[0]}#{week}"
    ordinal = ("first", "second", "third", "fourth")[week - 1]
    return f"; for the {ordinal} {WEEKDAYS[weekdays[0]]} of the month write {' '.join(tokens)}"


def _steps(expression: CronExpression) -> Iterator[str]:
    for index, cycle in _CYCLES.items():
        if index >= len(expression.tokens) or not (found := _STEP.match(expression.tokens[index])):
            continue
        field, low, step = FIELDS[index], found[1], int(found[3])
        start = int(low) if low else field.low
        end = int(found[2]) if found[2] else field.high
        if step > end - start and step > 1:
            yield (
                f"{expression.tokens[index]}: a step of {step} is larger than the field, so it is the same as "
                f"{field.name} {start}: {cron_words(expression)}; to fire every {step} {field.name}s use an interval trigger"
            )
        elif index in (MINUTE, HOUR, SECOND) and not found[2] and (field.high + 1) % step and _comes_again(expression, index):
            last = start + (end - start) // step * step
            gap = field.high + 1 - last + start
            if gap != step:
                yield (
                    f"{expression.tokens[index]} begins anew each {cycle}: after {field.name} {last} "
                    f"the next one comes {gap} {field.name}{'' if gap == 1 else 's'} later"
                )


def _comes_again(expression: CronExpression, index: int) -> bool:
    """Whether the field's cycle follows on itself, so that its last gap can be seen."""
    outer = {MINUTE: HOUR, SECOND: MINUTE}.get(index)
    return outer is None or len(expression.matching(outer)) > 1

"""Cron expressions in words. They are made of the values that really match, never of what was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from studio_tui.domain.cron import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR, CronExpression

WEEKDAYS: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ORDINALS: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", "l": "last"}
_MANY: Final = 6


def cron_words(expression: CronExpression) -> str:
    """The expression in words: short for the common shapes, a sentence for the rest."""
    return _short(expression) or _sentence(expression)


def listed(values: Sequence[int], names: Sequence[str] | None = None, *, offset: int = 0) -> str:
    """Sorted values as ranges and single ones, by name where names are given: ``1-5, 7``, ``Mon-Fri``."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])

    def name(value: int) -> str:
        return names[value - offset] if names else str(value)

    parts: list[str] = []
    for run in runs:
        parts.extend([f"{name(run[0])}-{name(run[-1])}"] if len(run) > 2 else [name(value) for value in run])
    return ", ".join(parts)


def weekday_words(values: Iterable[int]) -> str:
    """Weekdays by name, the week beginning on Monday: ``Mon-Fri``, ``Sat, Sun``."""
    from_monday = sorted((value + 6) % 7 for value in values)
    return listed(from_monday, (*WEEKDAYS[1:], WEEKDAYS[0]))


# --- the short forms --------------------------------------------------------------------------------------------------


def _short(expression: CronExpression) -> str | None:
    moment = _seconds(expression) or _rate(expression)
    days, months = _days(expression)
    if moment is not None:
        said = ", ".join(part for part in (moment, days) if part)
    elif (times := _times(expression)) is None:
        return None
    else:
        either = " or " in days
        said = f"{times}{'' if days.startswith('every') else ' on'} {days}" if either else f"{days or 'daily'} {times}"
    years = f" in {listed(expression.matching(YEAR))}" if expression.has_years else ""
    return said + (f" in {months}" if months else "") + years


def _seconds(expression: CronExpression) -> str | None:
    """Seconds, where the expression names other ones than 0."""
    seconds = expression.matching(SECOND) if len(expression.tokens) > SECOND else (0,)
    if seconds == (0,):
        return None
    step = _step(seconds, 60)
    rate = f"every {step} s" if step else f"at second {listed(seconds)}"
    minutes = _counted("minute", expression, MINUTE)
    hours = _counted("hour", expression, HOUR)
    return f"{'every second' if step == 1 else rate} during {minutes} of {hours}"


def _counted(name: str, expression: CronExpression, index: int) -> str:
    if expression.covers(index):
        return f"every {name}"
    values = expression.matching(index)
    return f"{name}{'' if len(values) == 1 else 's'} {listed(values)}"


def _rate(expression: CronExpression) -> str | None:
    """A time that comes again and again within a day."""
    minutes, hours = expression.matching(MINUTE), expression.matching(HOUR)
    pace = _pace(minutes)
    if expression.covers(HOUR):
        if pace is not None:
            return pace
        return f"hourly at {', '.join(f':{minute:02}' for minute in minutes)}" if len(minutes) <= _MANY else None
    if pace is not None and _is_run(hours):
        return f"{pace} {hours[0]:02}:00-{hours[-1]:02}:{minutes[-1]:02}"
    if len(minutes) != 1 or len(hours) <= 2:
        return None
    if step := _step(hours, 24):
        return f"every {step} h at :{minutes[0]:02}"
    if _is_run(hours) and len(hours) > _MANY:
        return f"hourly {hours[0]:02}:{minutes[0]:02}-{hours[-1]:02}:{minutes[0]:02}"
    return None


def _pace(minutes: Sequence[int]) -> str | None:
    if step := _step(minutes, 60):
        return "every minute" if step == 1 else f"every {step} min"
    if len(minutes) < 3 or list(minutes) != list(range(0, 60, minutes[1])):
        return None
    return f"every {minutes[1]} min from :00"  # begins anew each hour


def _times(expression: CronExpression) -> str | None:
    """A few times of day, one by one."""
    minutes, hours = expression.matching(MINUTE), expression.matching(HOUR)
    if len(minutes) * len(hours) > _MANY:
        return None
    return ", ".join(f"{hour:02}:{minute:02}" for hour in hours for minute in minutes)


def _days(expression: CronExpression) -> tuple[str, str]:
    """On which days, empty for all; and in which months, where that is not said with the days."""
    months = "" if expression.covers(MONTH) else listed(expression.matching(MONTH), MONTHS, offset=1)
    by_week = _week_days(expression)
    if expression.any_day or expression.nth or expression.values[DAY] is None:  # beside # and L the day has no effect
        return by_week, months
    by_month = _month_days(expression)
    if months and not by_week and len(expression.matching(DAY)) == 1 and not expression.last_day:
        return f"{expression.matching(DAY)[0]} {months}", ""
    return (f"{by_month} of the month or any {by_week}" if by_week else f"{by_month} of the month"), months


def _month_days(expression: CronExpression) -> str:
    days = expression.matching(DAY) if expression.values[DAY] else ()
    step = days[1] - days[0] if len(days) > 2 else 1
    if step > 1 and len(days) > _MANY and days == tuple(range(days[0], days[-1] + 1, step)):
        named = [f"every {step} days from day {days[0]}"]
    else:
        named = [f"day {listed(days)}"] if days else []
    return " and ".join([*named, *(["last day"] if expression.last_day else [])])


def _week_days(expression: CronExpression) -> str:
    if expression.nth:
        named = [f"{_ORDINALS[place]} {WEEKDAYS[day]}" for day, places in expression.nth for place in places]
        return f"{', '.join(named)} of the month"
    return "" if expression.any_day or expression.covers(WEEKDAY) else weekday_words(expression.matching(WEEKDAY))


def _step(values: Sequence[int], size: int) -> int | None:
    """The even step that these values take through a whole cycle of ``size``, if they do."""
    if len(values) < 2 or values[0] != 0 or size % len(values):
        return None
    step = size // len(values)
    return step if list(values) == list(range(0, size, step)) else None


def _is_run(values: Sequence[int]) -> bool:
    return len(values) > 1 and values[-1] - values[0] == len(values) - 1


# --- the sentence -----------------------------------------------------------------------------------------------------


def _sentence(expression: CronExpression) -> str:
    """What cron-descriptor says. It joins the day fields by "and", so two restricted ones are told one after the other."""
    fields = [_canonical(expression, index) for index in range(len(expression.tokens))]
    if not expression.either_day or expression.any_day or expression.nth:
        if expression.any_day:
            fields[DAY] = fields[WEEKDAY] = "*"
        elif expression.nth:
            fields[DAY] = "*"
        return _descriptor(expression, fields)
    by_month, by_week = list(fields), list(fields)
    by_month[WEEKDAY] = by_week[DAY] = "*"
    return f"{_descriptor(expression, by_month)}; and also {_descriptor(expression, by_week)}"


def _canonical(expression: CronExpression, index: int) -> str:
    """A field rewritten from its values, in the grammar of cron-descriptor."""
    if index == WEEKDAY and expression.nth:
        return ",".join(f"{day}L" if place == "l" else f"{day}#{place}" for day, places in expression.nth for place in places)
    last = "L" if index == DAY and expression.last_day else ""
    if expression.covers(index) and not last:
        return "*"
    values = expression.matching(index) if expression.values[index] else ()
    size = {MINUTE: 60, HOUR: 24, SECOND: 60}.get(index)
    if size and (step := _step(values, size)):
        return f"*/{step}"
    parts = [listed(values).replace(" ", "")]
    if index == HOUR and not _is_run(values):
        parts = [str(hour) for hour in values]  # of ranges among other hours it says the minutes wrongly
    return ",".join(part for part in (*parts, last) if part)


def _descriptor(expression: CronExpression, fields: Sequence[str]) -> str:
    from cron_descriptor import ExpressionDescriptor, Options  # only the rare shapes need it

    seconds = fields[SECOND : SECOND + 1]  # cron-descriptor reads seconds first
    text = " ".join((*seconds, *fields[:SECOND], *fields[YEAR:]))
    try:
        said: str = ExpressionDescriptor(text, Options(locale_code="en_US", use_24hour_time_format=True)).get_description()
    except Exception:  # a shape that it does not know is shown as written
        return f"cron {expression.text}"
    return said[:1].lower() + said[1:]

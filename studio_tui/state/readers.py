"""How the value of one column is read, whatever was stored.

A reader gives what a record wants, or its "unknown", and then names the column among the row's defects. None of them raises,
and no bad value hides its row: a store holds what many programs have put into it, and SQLite lets a column hold any type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final

from studio_tui.state.schema import BrokenJSON

LAST_EPOCH: Final = 32_503_680_000.0
"""Year 3000. What is greater was not meant in seconds (milliseconds of our time are fifty times that)."""

METADATA_KEYS: Final = (
    "pid",
    "pid_create_time",
    "pid_host",
    "pid_boot_time",
    "process_identity_mode",
    "host_pid",
    "host_pid_create_time",
    "resumed_from",
    "drains_controls",
    "flow_control_poller",
)
"""The keys of ``sessions.node_metadata`` that we read (lionagi 0.36); the rest can be large and stays in the store."""

BROKEN: Final = "broken"
"""What stands in place of picked metadata when the column holds no JSON object."""

Reader = Callable[[Any, str, list[str]], Any]


def as_epoch(value: Any, column: str, defects: list[str]) -> float | None:
    """Epoch seconds between 1970 and :data:`LAST_EPOCH`; anything else (milliseconds, negative, infinite, text) is a defect."""
    if value is None:
        return None
    if (type(value) is float or type(value) is int) and 0 <= value <= LAST_EPOCH:
        return float(value)
    defects.append(column)
    return None


def as_number(value: Any, column: str, defects: list[str]) -> float | None:
    """A finite number."""
    if value is None:
        return None
    if (type(value) is float and value - value == 0.0) or type(value) is int:
        return float(value)
    defects.append(column)
    return None


def as_int(value: Any, column: str, defects: list[str]) -> int | None:
    """A whole number; one that was stored as a float counts."""
    if value is None or type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    defects.append(column)
    return None


def as_count(value: Any, column: str, defects: list[str]) -> int:
    """A whole number where a missing one means none."""
    return as_int(value, column, defects) or 0


def as_flag(value: Any, column: str, defects: list[str]) -> bool:
    """0 or 1 (both databases store booleans so); a missing one is no."""
    if value is not None and type(value) is not int and type(value) is not bool:
        defects.append(column)
        return False
    return bool(value)


def as_choice(value: Any, column: str, defects: list[str]) -> bool | None:
    """0, 1, or not known."""
    return None if value is None else as_flag(value, column, defects)


def as_text(value: Any, column: str, defects: list[str]) -> str | None:
    """Text; bytes and numbers in its place are shown as text all the same."""
    if value is None or type(value) is str:
        return value
    defects.append(column)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_required(value: Any, column: str, defects: list[str]) -> str:
    """Text where a record cannot do without; a missing one is empty."""
    return as_text(value, column, defects) or ""


def as_json(value: Any, column: str, defects: list[str]) -> Any:
    """A decoded JSON value; SQL NULL, JSON ``null`` and what is no JSON are ``None``."""
    if isinstance(value, BrokenJSON):
        defects.append(column)
        return None
    return value


def as_object(value: Any, column: str, defects: list[str]) -> Mapping[str, Any] | None:
    """A JSON object, or nothing."""
    decoded = as_json(value, column, defects)
    if decoded is None or isinstance(decoded, dict):
        return decoded
    defects.append(column)
    return None


def as_object_or_empty(value: Any, column: str, defects: list[str]) -> Mapping[str, Any]:
    """A JSON object; an empty one where there is none."""
    return as_object(value, column, defects) or {}


def as_texts(value: Any, column: str, defects: list[str]) -> tuple[str, ...]:
    """The texts of a JSON list; empty where there is none, or where anything in it is no text."""
    decoded = as_json(value, column, defects)
    if decoded is None:
        return ()
    if isinstance(decoded, list) and all(type(item) is str for item in decoded):
        return tuple(decoded)
    defects.append(column)
    return ()


def as_argv(value: Any, column: str, defects: list[str]) -> tuple[str, ...]:
    """``schedule_runs.action_args``: an argument list for firings; ad-hoc tasks keep an object there (lionagi 0.36)."""
    return () if isinstance(value, dict) else as_texts(value, column, defects)


def as_target_args(value: Any, column: str, defects: list[str]) -> Mapping[str, Any]:
    """The playbook arguments inside ``schedules.resolved_target``; declared schedules have them nowhere else (lionagi 0.36)."""
    target = as_object_or_empty(value, column, defects).get("target")
    args = target.get("args") if isinstance(target, dict) else None
    return args if isinstance(args, dict) else {}


def as_metadata(value: Any, column: str, defects: list[str]) -> Mapping[str, Any]:
    """The values that ``queries.json_text.picked_values`` picked; the database made their text, so it is JSON."""
    if value is None:
        return {}
    if value == BROKEN:
        defects.append(column)
        return {}
    return {key: item for key, item in zip(METADATA_KEYS, json.loads(value), strict=True) if item is not None}


PLAIN: Final[Mapping[Reader, frozenset[type]]] = MappingProxyType(
    {
        as_epoch: frozenset({NoneType}),
        as_number: frozenset({NoneType}),
        as_int: frozenset({int, NoneType}),
        as_count: frozenset({int}),
        as_choice: frozenset({NoneType}),
        as_text: frozenset({str, NoneType}),
        as_required: frozenset({str}),
        as_json: frozenset({NoneType, dict}),
        as_object: frozenset({NoneType, dict}),
    }
)
"""The types whose values a reader passes as they are: for these it need not be called (a page reads a thousand values)."""

"""What the peer looks for in CREATE statements to see a table of an older store (lionagi 0.36), and what such a table lacks."""

from __future__ import annotations

import re
from typing import Final

_SIGNS: Final = (
    ("sessions", r"'running',\s*'completed',\s*'failed',\s*'aborted'", "all statuses of runs"),
    ("sessions", r"'imported_fs'(?!.*'imported_codex')", "the source imported_codex"),
    ("sessions", r"'show-play'(?!.*'engine')", "the kind engine"),
    ("schedules", r"^(?!.*'flow_yaml')", "the action flow_yaml"),
    ("schedules", r"^(?!.*'command')", "the action command"),
    ("schedules", r"^(?!.*'at')", "the trigger at"),
    ("invocations", r"^(?!.*'completed_empty')", "the status completed_empty"),
    ("schedule_runs", r"^(?!.*'waiting_dependency')", "the status waiting_dependency"),
    ("definitions", r"'playbook'(?!.*'skill')", "the kind skill"),
)
"""Table, pattern, what a table of this form lacks."""


def lacking(table: str, create_statement: str) -> tuple[str, ...]:
    """What a table with this CREATE statement does not allow and lionagi 0.36 needs; empty for one that is as it should be.

    PostgreSQL keeps no such text: there nothing is lacking by this rule, and its checks are widened in place.
    """
    if not create_statement:
        return ()
    return tuple(
        lack for name, pattern, lack in _SIGNS if name == table and re.search(pattern, create_statement, re.DOTALL) is not None
    )

"""The command that carries messages: what it must look like, and its arguments for one message (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DESTINATION: Final = "{deliver_to}"
PAYLOAD: Final = "{payload}"

SECONDS: Final = 10.0
"""How long a command that is told something may take before it is killed with all that it started."""


def template_fault(template: object) -> str | None:
    """Why this is no template of a command, or ``None``. A placeholder counts only as a whole argument."""
    if not isinstance(template, list) or not template or not all(isinstance(part, str) for part in template):
        return "must be a list of texts: a program and its arguments"
    if not template[0].strip() or any("\0" in part for part in template):
        return "holds an argument that no program can be given"
    return None if DESTINATION in template else f"must hold {DESTINATION} as an argument of its own"


def filled(template: Sequence[str], *, deliver_to: str, payload: str) -> tuple[tuple[str, ...], str]:
    """The arguments for one message, and what is on the command's standard input: the payload, unless it is an argument."""
    values = {DESTINATION: deliver_to, PAYLOAD: payload}
    return tuple(values.get(part, part) for part in template), "" if PAYLOAD in template else payload

"""What a chain (``on_success``, ``on_fail``) must keep to; the peer checks it only on its command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from studio_tui.application.errors import FieldFailure
from studio_tui.domain.schedules import ACTIONS
from studio_tui.scheduler.contract import MAX_CHAIN_DEPTH

_KEYS: Final = ("kind", "action_kind", "model", "prompt", "agent", "playbook", "on_success", "on_fail")
_TEXTS: Final = ("model", "prompt", "agent", "playbook")
_NESTED: Final = ("on_success", "on_fail")


def chain_failures(field: str, chain: Mapping[str, object] | None) -> Iterator[FieldFailure]:
    """Every rule that a chain breaks, however deep."""
    if chain is not None:
        yield from _node(("action", field), chain, depth=1)


def _node(path: tuple[str, ...], node: object, *, depth: int) -> Iterator[FieldFailure]:
    if not isinstance(node, Mapping):
        yield FieldFailure(path, "not_an_object", "must be an object with what to run next")
        return
    if depth > MAX_CHAIN_DEPTH:
        yield FieldFailure(path, "too_deep", f"chains may be {MAX_CHAIN_DEPTH} deep at most")
        return
    for key, value in node.items():
        here = (*path, key)
        if key not in _KEYS:
            yield FieldFailure(here, "unknown", f"is not part of a chain; allowed: {', '.join(_KEYS)}")
        elif value is None:
            continue
        elif key in ("kind", "action_kind") and value not in ACTIONS:
            yield FieldFailure(here, "unknown", f"is not an action; allowed: {', '.join(ACTIONS)}")
        elif key in _TEXTS and not isinstance(value, str):
            yield FieldFailure(here, "not_text", "must be text")
        elif key in _NESTED:
            yield from _node(here, value, depth=depth + 1)

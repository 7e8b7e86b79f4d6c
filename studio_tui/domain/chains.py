"""Chains: what a step may hold, and what follows from the shallow merge (lionagi 0.36).

A step is laid over the schedule as it ran before: what the step does not name stays as it was. That holds for ``on_success`` and
``on_fail`` too, so a step that does not name the one that led to it repeats until the depth limit. An empty step is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from studio_tui.domain.schedules import ACTIONS

MAX_CHAIN_DEPTH: Final = 10
"""Firings that may follow from one another; the first has depth 0."""

BRANCHES: Final = ("on_success", "on_fail")
SHORT_KEYS: Final = MappingProxyType(
    {
        "action_kind": "action_kind",
        "kind": "action_kind",
        "model": "action_model",
        "prompt": "action_prompt",
        "agent": "action_agent",
        "playbook": "action_playbook",
    }
)
"""Keys of a step and the columns that they stand for; a later one wins over an earlier one."""

STEP_KEYS: Final = ("kind", "action_kind", "model", "prompt", "agent", "playbook", *BRANCHES)
"""What a new step may name: the keys that the peer's command line takes."""

_REPEATS: Final = "repeats until the depth limit of"


@dataclass(frozen=True, slots=True)
class StepFault:
    """One fault of a chain: where it is, below the branch that holds it, a stable code, and a sentence with what is allowed."""

    path: tuple[str, ...]
    code: str
    message: str


def step_faults(step: object, *, keys: Collection[str] = STEP_KEYS, depth: int = 1) -> Iterator[StepFault]:
    """Every rule that the shape of a step breaks, and those of the steps below it."""
    if not isinstance(step, Mapping):
        yield StepFault((), "not_an_object", "must be an object with what to run next, or null for nothing")
        return
    if depth > MAX_CHAIN_DEPTH:
        yield StepFault((), "too_deep", f"chains may be {MAX_CHAIN_DEPTH} deep at most")
        return
    for key, value in step.items():
        if key not in keys:
            yield StepFault((str(key),), "unknown", f"is not part of a chain; allowed: {', '.join(keys)}")
        elif key in BRANCHES and value is not None:
            for fault in step_faults(value, keys=keys, depth=depth + 1):
                yield StepFault((key, *fault.path), fault.code, fault.message)
        elif fault_of_value := _value_fault(key, value):
            yield StepFault((key,), *fault_of_value)


def _value_fault(key: str, value: object) -> tuple[str, str] | None:
    column = SHORT_KEYS.get(key)
    if column is None:
        return None
    if column == "action_kind":
        return None if value in ACTIONS else ("unknown", f"is not an action; allowed: {', '.join(ACTIONS)}")
    return None if value is None or isinstance(value, str) else ("not_text", "must be text")


def chain_remarks(branches: Mapping[str, Mapping[str, object] | None]) -> tuple[str, ...]:
    """What an author should know of a chain: the steps that repeat because they inherit the branch that led to them."""
    return tuple(remark for branch, step in branches.items() if step for remark in _remarks(branch, branch, step))


def _remarks(path: str, branch: str, step: Mapping[str, object]) -> Iterator[str]:
    if branch not in step:
        yield (
            f"{path} does not name its own {branch}, so it inherits the one that led to it and {_REPEATS} {MAX_CHAIN_DEPTH}; "
            f'write "{branch}": null into it to stop there'
        )
    for nested in BRANCHES:
        below = step.get(nested)
        if below and isinstance(below, Mapping):
            yield from _remarks(f"{path}.{nested}", nested, below)


def chain_words(branches: Mapping[str, Mapping[str, object] | None]) -> tuple[str, ...]:
    """A chain in words, one line a step, with how each ends."""
    return tuple(words for branch, step in branches.items() if step for words in _words(branch, branch, step, 1))


def _words(path: str, branch: str, step: Mapping[str, object], depth: int) -> Iterator[str]:
    named = [f"{key} {value}" for key in STEP_KEYS[:-2] if isinstance(value := step.get(key), str) and key != "prompt"]
    what = ", ".join(named) or "the same action again"
    prompt = " with a prompt of its own" if isinstance(step.get("prompt"), str) else ""
    repeats = "" if branch in step else f"; {_REPEATS} {MAX_CHAIN_DEPTH} (it inherits {branch})"
    yield f"{path.replace('_', ' ').replace('.', ', then ')}: {what}{prompt}{repeats}"
    for nested in BRANCHES:
        below = step.get(nested)
        if below and isinstance(below, Mapping) and depth < MAX_CHAIN_DEPTH:
            yield from _words(f"{path}.{nested}", nested, below, depth + 1)

"""Words to a running run: pause, resume, message. What became of each, and who would hear it (lionagi 0.36, session controls)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

VERBS: Final = ("pause", "resume", "message")
"""The schema also knows ``stop``; nothing in lionagi 0.36 listens to it, so it is not sent."""

TEXT_LIMIT: Final = 8_000
"""Characters of a message (lionagi 0.36)."""

LISTENERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"pause": frozenset({"flow", "play"}), "resume": frozenset({"flow", "play"}), "message": frozenset({"flow", "play", "agent"})}
)
"""The kinds of run that listen to each verb."""

POLLED: Final = frozenset({"flow", "play"})
POLLER_STATES: Final = ("pending", "active")
"""What ``node_metadata.flow_control_poller`` says while somebody still reads the controls of a flow or play."""

_APPLYING: Final = "applying"


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """One control as stored. Times are epoch seconds."""

    control_id: str
    run_id: str
    verb: str
    text: str | None
    created_at: float | None
    claimed_at: float | None
    applied_at: float | None
    result: str | None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a control (``waiting``, ``applying``, ``applied``, ``rejected`` or ``other``) and what else it says."""

    state: str
    detail: str | None = None


def receipt(control: ControlRecord) -> Receipt:
    """The receipt of a control, from its ``result``."""
    if control.result is None:
        return Receipt("waiting" if control.applied_at is None else "other")
    word, _, detail = control.result.partition(":")
    state = word if word in (_APPLYING, "applied") else "rejected" if word.startswith("rejected") else "other"
    return Receipt(state, (control.result if state == "other" else detail.strip()) or None)


def pause_is_held(controls: Iterable[ControlRecord]) -> bool:
    """Whether the newest pause or resume that counts is a pause: one that waits to be read, or that was applied.

    Rejected ones never held anything. Controls may come in any order.
    """
    counted = [control for control in controls if control.verb in ("pause", "resume") and control.result in (None, "applied")]
    newest = max(counted, key=lambda control: (control.created_at or 0.0, control.control_id), default=None)
    return newest is not None and newest.verb == "pause"


def deafness(verb: str, *, status: str | None, kind: str | None, metadata: Mapping[str, object], owned: bool) -> str | None:
    """Why nobody would hear a control, in words; ``None`` when somebody listens.

    ``owned`` says whether a lionagi process runs it (``sessions.run_id``); mirrored and imported runs have none.
    """
    if status != "running":
        return f"the run is {status or 'completed'}; only a running one can be told anything"
    if kind not in LISTENERS[verb]:
        return f"a run of kind {kind or 'agent'} does not listen to {verb}"
    if kind in POLLED:
        if metadata.get("flow_control_poller") in POLLER_STATES:
            return None
        return "the part of the run that reads controls has stopped, or never said that it runs"
    if not owned:
        return "the run was mirrored or imported; nothing of lionagi drives it"
    return None if metadata.get("drains_controls") is True else "what drives the run never said that it reads messages"

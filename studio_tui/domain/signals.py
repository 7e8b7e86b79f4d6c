"""What a run tells while it goes: one numbered line a step (lionagi 0.36, session signals)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PAYLOAD_LIMIT: Final = 16_384
"""Bytes of a payload as JSON."""


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """One signal. ``seq`` counts from 1 within its run; ``at`` is in epoch seconds; ``op_id`` is empty for the run as a whole."""

    signal_id: str
    run_id: str
    seq: int
    kind: str
    op_id: str
    at: float | None
    payload: Mapping[str, object]
    defects: tuple[str, ...] = ()


def payload_fault(payload: Mapping[str, object]) -> str | None:
    """Why a payload may not be stored, or ``None``."""
    try:
        size = len(json.dumps(payload, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "is no JSON"
    return f"is {size} bytes long; {PAYLOAD_LIMIT} are allowed" if size > PAYLOAD_LIMIT else None

"""Schedules that are made to measure, for worlds in which one thing is wanted."""

from __future__ import annotations

from typing import Any

from tests.simulation.making import Behaviour, Made

STEP = {"kind": "command", "action_command": "true", "on_success": None, "on_fail": None}
"""A chain step that is the last one."""


def lasting(shortest: float, longest: float, **more: float) -> Behaviour:
    """Processes of such a length in seconds, with which nothing goes wrong unless ``more`` says so."""
    return Behaviour(shortest, longest, **{"failing": 0.0, "refused": 0.0, "stubborn": 0.0, **more})


def simple(number: int, now: float, behaviour: Behaviour, **values: Any) -> Made:
    """A command without policies, but for what ``values`` say; its next instant is the scheduler's to find where they do not."""
    action = {"action_kind": "command", "action_command": "true", "action_cwd": "/"}
    columns = {"id": f"{number:012x}", "name": f"s{number}", "created_at": now, "updated_at": now, **action, **values}
    return Made(columns, behaviour)

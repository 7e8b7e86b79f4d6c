"""What proves that a process is the one that was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

LOCAL_MODES: Final = frozenset({"local", "in_process", None})


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process: pid, start time, host name and boot time must all match. Times are epoch seconds.

    ``created_at`` and ``boot_time`` are ``None`` where an old record lacks them: such an identity proves nothing.
    """

    pid: int
    created_at: float | None
    host: str | None
    boot_time: float | None


def recorded_identity(metadata: Mapping[str, object]) -> ProcessIdentity | None:
    """The process that a run's ``node_metadata`` names, or ``None`` when it names none that could be looked for here.

    A run inside a host process carries ``host_pid``; one whose mode is neither local nor in-process cannot be judged
    (lionagi 0.36, process_liveness).
    """
    mode = metadata.get("process_identity_mode")
    if mode is not None and mode not in LOCAL_MODES:
        return None
    prefix = "host_pid" if mode == "in_process" else "pid"
    pid = metadata.get(prefix)
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return None
    host = metadata.get("pid_host")
    return ProcessIdentity(
        pid,
        _number(metadata.get(f"{prefix}_create_time")),
        host if isinstance(host, str) else None,
        _number(metadata.get("pid_boot_time")),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

"""Whether a recorded process lives: pid, start time, host and boot time must all match (lionagi 0.36, process_liveness)."""

from __future__ import annotations

import os
import socket
from functools import cache
from typing import TYPE_CHECKING, Final

from studio_tui.domain.identity import ProcessIdentity

if TYPE_CHECKING:
    import psutil

CREATE_TOLERANCE: Final = 1.0
"""Seconds by which two readings of one start time may differ."""

BOOT_TOLERANCE: Final = 5.0
"""Seconds by which two readings of one boot time may differ (the clock is corrected meanwhile)."""


@cache
def host_name() -> str:
    """This machine's name, as lionagi records it."""
    return socket.gethostname()


@cache
def boot_time() -> float:
    """When this machine was started, in epoch seconds."""
    import psutil

    return float(psutil.boot_time())


def identify(pid: int) -> ProcessIdentity:
    """What proves later that a process is this one. Raises :class:`ProcessLookupError` when there is none."""
    import psutil

    try:
        created = float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess as gone:
        raise ProcessLookupError(f"no process {pid}") from gone
    return ProcessIdentity(pid, created, host_name(), boot_time())


@cache
def own_identity() -> ProcessIdentity:
    """The identity of this very process."""
    return identify(os.getpid())


def alive(identity: ProcessIdentity) -> bool | None:
    """Whether exactly this process lives.

    ``None`` when that cannot be known: it ran on another host, or its start time was not recorded while the pid is in use.
    A zombie counts as dead: it has ended, whoever has yet to collect it.
    """
    if identity.host is not None and identity.host != host_name():
        return None
    if identity.boot_time is not None and abs(identity.boot_time - boot_time()) > BOOT_TOLERANCE:
        return False
    import psutil

    try:
        process = psutil.Process(identity.pid)
        return _is_same(process, identity.created_at)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return None


def _is_same(process: psutil.Process, created_at: float | None) -> bool | None:
    if process.status() == "zombie":
        return False
    if created_at is None:
        return None
    return abs(process.create_time() - created_at) <= CREATE_TOLERANCE

"""A process is known again by pid, start time, host and boot time."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import psutil
import pytest

from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import alive, identify, own_identity


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({}, True),
        ({"created_at": own_identity().created_at + 0.9}, True),
        ({"created_at": own_identity().created_at - 1.5}, False),
        ({"created_at": None}, None),
        ({"host": "another-host"}, None),
        ({"host": None}, True),
        ({"boot_time": own_identity().boot_time - 4.0}, True),
        ({"boot_time": own_identity().boot_time - 6.0}, False),
        ({"boot_time": None}, True),
        ({"host": "another-host", "boot_time": 1.0}, None),
        ({"pid": 2**22 + 1}, False),
        ({"pid": 2**22 + 1, "created_at": None}, False),
    ],
)
def test_alive(change: dict[str, object], answer: bool | None) -> None:
    assert alive(dataclasses.replace(own_identity(), **change)) is answer


def test_a_zombie_has_ended() -> None:
    child = subprocess.Popen(["true"])
    identity = identify(child.pid)
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert alive(identity) is False
    child.wait()


def test_nobody_is_identified_by_a_pid_that_is_not_in_use() -> None:
    with pytest.raises(ProcessLookupError):
        identify(2**22 + 1)


def test_our_own_identity_is_ours() -> None:
    assert own_identity() == ProcessIdentity(os.getpid(), psutil.Process().create_time(), os.uname().nodename, psutil.boot_time())


def test_psutil_is_imported_only_when_asked() -> None:
    code = "import sys, studio_tui.processes.spawn; print('psutil' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"

"""Copying: the route is named, and nothing is promised."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio_tui.tui.clipboard import OSC52_LIMIT, Clipboard


async def test_copying_names_the_route_and_never_says_copied(tmp_path: Path) -> None:
    sent: list[str] = []
    small = await Clipboard().copy("run-1", sent.append)
    assert sent == ["run-1"]
    assert "cannot be verified" in small
    assert "copied" not in small
    big = "x" * (OSC52_LIMIT + 1)
    assert "nothing was copied" in await Clipboard().copy(big, sent.append)
    saved: list[str] = []

    def save(text: str) -> str:
        saved.append(text)
        return "/tmp/copies/1.txt"

    assert "written to /tmp/copies/1.txt" in await Clipboard(save=save).copy(big, sent.append)
    assert saved == [big]
    assert sent == ["run-1"]

    def full(_text: str) -> str:
        raise OSError(28, "No space left on device")

    assert "No space left" in await Clipboard(save=full).copy(big, sent.append)
    assert await Clipboard().copy("", sent.append) == "nothing to copy here"


async def test_a_tmux_that_does_not_answer_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = tmp_path / "tmux"
    stuck.write_text("#!/bin/sh\nexec sleep 60\n")
    stuck.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("studio_tui.tui.clipboard._TIME_LIMIT", 0.2)
    sent: list[str] = []
    assert "OSC 52" in await Clipboard(tmux=True).copy("run-1", sent.append)
    stuck.write_text(f"#!/bin/sh\ncat > {tmp_path}/buffer\n")
    assert "tmux's buffer" in await Clipboard(tmux=True).copy("run-2", sent.append)
    assert (tmp_path / "buffer").read_text() == "run-2"
    assert sent == ["run-1"]

"""Roots on a real disk."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from studio_tui.files.roots import Roots

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """Four roots, of which none exists yet."""
    return Roots.of(tmp_path / "home", tmp_path / "shows")


@pytest.fixture
def put(roots: Roots) -> Callable[..., Path]:
    """``put("agents/a.md", text)``: writes below the home, or below the shows root for ``shows/…``."""

    def write(name: str, content: str | bytes = "---\nname: x\n---\nText.\n") -> Path:
        path = (roots.shows if name.startswith("shows/") else roots.agents.parent) / name.removeprefix("shows/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def put_play(put: Callable[..., Path]) -> Callable[..., Path]:
    """``put_play("show", "play", meta, verdict)``: a play with its two JSON files."""

    def write(show: str, play: str, meta: Mapping[str, object], verdict: Mapping[str, object] | None = None) -> Path:
        path = put(f"shows/{show}/{play}/_meta.json", json.dumps(meta))
        if verdict is not None:
            put(f"shows/{show}/{play}/_verdict.json", json.dumps(verdict))
        return path.parent

    return write


@pytest.fixture
def weird_root(roots: Roots) -> Roots:
    """A root of agents with one of everything that hangs a naive scan."""
    roots.agents.parent.mkdir(parents=True)
    subprocess.run(["sh", str(DATA / "weird-root.sh"), str(roots.agents)], check=True, capture_output=True)
    return roots


def age(path: Path, seconds: float = 60.0) -> None:
    """Make a file look as if it was last written a while ago."""
    status = path.stat()
    os.utime(path, (status.st_atime, status.st_mtime - seconds))

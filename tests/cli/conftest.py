"""Homes for the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.one_home import Capture, Cli


@pytest.fixture
def peer(peer_home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A home that the real package made."""
    monkeypatch.setenv("LIONAGI_SHOWS_ROOT", str(peer_home / "shows"))
    return Cli(peer_home, capsys)


@pytest.fixture
def own(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A home that we made, in which ``echo`` and ``false`` may run."""
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo,false,sh")
    monkeypatch.chdir(tmp_path)
    cli = Cli(tmp_path / "own", capsys)
    assert cli.out("init") == f"made a store: {cli.home / 'state.db'}\n"
    return cli

"""The command line on one home, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studio_tui.cli.main import run

Capture = pytest.CaptureFixture[str]


class Cli:
    """Runs commands on one home."""

    def __init__(self, home: Path, capture: Capture) -> None:
        self.home, self._capture = home, capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = run(["--home", str(self.home), *arguments])
        said = self._capture.readouterr()
        return code, said.out, said.err

    def out(self, *arguments: str) -> str:
        """The output of a command that must succeed."""
        code, out, err = self(*arguments)
        assert (code, err) == (0, ""), (code, err)
        return out

    def json(self, *arguments: str) -> Any:
        """The document of a command that must succeed."""
        return json.loads(self.out(*_with_json(arguments)))

    def refusal(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Exit code and document of a command that must not."""
        code, out, err = self(*_with_json(arguments))
        assert out == ""
        assert err.count("\n") == 1
        return code, json.loads(err)["error"]


def _with_json(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The flag comes before ``--``: what follows that belongs to somebody else."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    return (*arguments[:place], "--json", *arguments[place:])

"""Which token a poll shows: ``GITHUB_TOKEN``, else what the ``gh`` program was logged in with."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

_VARIABLE: Final = "GITHUB_TOKEN"
_OWN_VARIABLES: Final = ("GH_TOKEN", _VARIABLE, "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""What ``gh`` would print instead of its own token: the one that was just refused, say."""

_WITHIN: Final = 10.0


class Tokens:
    """``environment`` answers afresh which variables are set; ``gh`` is looked for in their ``PATH``."""

    def __init__(self, environment: Callable[[], Mapping[str, str]], base: str) -> None:
        self._environment = environment
        host = urlsplit(base).hostname or ""
        self._host = "github.com" if host == "api.github.com" else host
        self._kept: str | None = None

    async def current(self) -> str | None:
        """The one that was accepted last, else the first that there is."""
        return self._kept or _usable(self._environment().get(_VARIABLE)) or await self.of_gh()

    async def of_gh(self) -> str | None:
        """A fresh one of ``gh``; ``None`` when there is none."""
        return await asyncio.to_thread(self._ask_gh)

    def keep(self, token: str | None) -> None:
        """This one was accepted; ``None``: it was refused, look again next time."""
        self._kept = token

    def _ask_gh(self) -> str | None:
        variables = {name: value for name, value in self._environment().items() if name not in _OWN_VARIABLES}
        program = shutil.which("gh", path=variables.get("PATH"))
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, "auth", "token", "--hostname", self._host],
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_WITHIN,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return _usable(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else None


def _usable(token: str | None) -> str | None:
    """A token that can stand in a header."""
    token = (token or "").strip()
    return token if token and token.isascii() and token.isprintable() and " " not in token else None

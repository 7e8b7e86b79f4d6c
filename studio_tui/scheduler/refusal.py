"""Why a firing is not launched."""

from __future__ import annotations

from typing import Final

FAILED: Final = "run.failed.exception"
NO_DIRECTORY: Final = "run.failed.cwd_inherit_refused"


class LaunchRefused(Exception):
    """The firing must not be launched. ``reason_code`` is the registered code to record; the message is for people."""

    def __init__(self, reason_code: str, message: str) -> None:
        self.reason_code = reason_code
        super().__init__(message)

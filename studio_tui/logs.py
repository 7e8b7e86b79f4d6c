"""The program's log: a file beside the home's other things of ours, made when there is something to say, never the terminal."""

from __future__ import annotations

import logging
import os
import re
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Final

from studio_tui.application.text import clean_block

_BYTES: Final = 1_000_000
_OLDER: Final = 3
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_URL_PASSWORD: Final = re.compile(r"(?P<kept>[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/]*@", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?P<kept>\b[\w-]*(?:password|passwd|secret|token(?!s)|api[_-]?key|authorization)[\w-]*[\"']?\s*[=:]\s*[\"']?(?:bearer\s+)?)[^\s\"'&,;]+",
    re.IGNORECASE,
)
_KEYS: Final = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|AKIA[A-Z0-9]{12,}|xox[abprs]-[\w-]{8,})"
)


def masked(text: str) -> str:
    """The text with passwords of addresses, named secrets and well-known keys replaced by ``***``."""
    text = _URL_PASSWORD.sub(r"\g<kept>***@", text)
    return _KEYS.sub("***", _NAMED.sub(r"\g<kept>***", text))


class _Masking(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


class _Printing(_Masking):
    """For a terminal: what data may hold must not act on it."""

    def format(self, record: logging.LogRecord) -> str:
        return clean_block(super().format(record))


class _PrivateFile(RotatingFileHandler):
    """Makes directory and file on the first record, for the owner alone. A log that cannot be written stops nothing."""

    def _open(self) -> IO[str]:  # type: ignore[override]
        directory = Path(self.baseFilename).parent
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, self.mode, encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Say nothing: the terminal belongs to the console, and there is no better place."""


def log_path(own_directory: Path) -> Path:
    """Where the log is, under our directory of a home."""
    return own_directory / "logs" / "console.log"


def log_to_file(own_directory: Path, level: str) -> None:
    """Send what the program says to the log instead of an earlier one; nothing is made until the first record."""
    handler = _PrivateFile(log_path(own_directory), maxBytes=_BYTES, backupCount=_OLDER, delay=True)
    handler.setFormatter(_Masking(_FORMAT))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, _PrivateFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("studio_tui").setLevel(level.upper())
    # A warning of a library must not be painted over a full screen either.
    logging.captureWarnings(True)
    logging.raiseExceptions = False


def log_to_terminal(logger: str) -> None:
    """Also print what ``logger`` and those below it say, line by line, for a host without a screen."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Printing("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logging.getLogger(logger).addHandler(handler)

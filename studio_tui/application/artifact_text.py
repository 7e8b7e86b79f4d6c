"""What the bytes of an artifact are, and where text may be cut."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

_BY_SUFFIX: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".md": "text/markdown",
        ".json": "application/json",
        ".yaml": "application/yaml",
        ".yml": "application/yaml",
        ".csv": "text/csv",
        ".diff": "text/x-diff",
        ".patch": "text/x-diff",
        ".html": "text/html",
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".svg": "image/svg+xml",
        ".pdf": "application/pdf",
    }
)


def media_type(path: str, data: bytes) -> str:
    """The kind of a file by its name, else by whether its beginning reads as text."""
    named = _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    if named is not None:
        return named
    return "application/octet-stream" if b"\0" in data or _unfinished(data) is None else "text/plain"


def whole_letters(data: bytes) -> bytes:
    """Text that was cut anywhere, without the letter that was cut; bytes that are no text stay as they are."""
    begun = _unfinished(data)
    return data[: len(data) - begun] if begun else data


def _unfinished(data: bytes) -> int | None:
    """How many bytes of a letter that has more of them stand at the end of UTF-8 text; ``None`` for what is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data)
    except UnicodeDecodeError:
        return None
    return len(decoder.getstate()[0])

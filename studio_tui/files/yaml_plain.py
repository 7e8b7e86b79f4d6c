"""YAML so plain that no parser is needed to read it.

Two thousand definitions have to be listed at once, and the parser needs about a millisecond for each. What is accepted here
means the same to any YAML parser; all else, and all that is wrong, is left to the parser.
"""

from __future__ import annotations

import re
from typing import Final

_HARMLESS: Final = re.compile("[\n\x20-\x7e\xa0-\u2027\u2030-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_PLAIN_LINE: Final = re.compile(
    r"""(?P<key>[A-Za-z_][A-Za-z0-9_-]*):
    (?:\ +(?:
        (?P<bare>[A-Za-z](?:[^\n:\#]|:(?=[^\s])|(?<!\ )\#)*|[0-9]+)
      | "(?P<double>[^"\\\n]*)" | '(?P<single>[^'\n]*)'
      | (?P<list>\[[A-Za-z]\w*(?:,\ ?[A-Za-z]\w*)*\])
      | (?P<block>\|-?)
    ))?\ *""",
    re.VERBOSE,
)


def plain_values(text: str) -> dict[str, str | None] | None:
    """The top-level scalars of a flat mapping of plain values, or ``None`` when it takes a parser to tell."""
    if not _HARMLESS.fullmatch(text):
        return None
    values: dict[str, str | None] = {}
    keys: set[str] = set()
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line or line.startswith("#"):
            continue
        match = _PLAIN_LINE.fullmatch(line)
        if match is None or match["key"] in keys:
            return None
        keys.add(match["key"])
        if match["block"]:
            end = _block_end(lines, at)
            if end is None or match["key"] in {"description", "name"}:
                return None
            at = end
        elif not match["list"]:
            values[match["key"]] = _written(match)
    return values if values else None


def _written(match: re.Match[str]) -> str | None:
    for group in ("double", "single"):
        if match[group] is not None:
            return match[group]
    bare = (match["bare"] or "").rstrip(" ")
    return None if bare in {"", "null", "Null", "NULL"} else bare


def _block_end(lines: list[str], start: int) -> int | None:
    """The line after a literal block that begins at ``start``, or ``None`` when its indentation is not plain."""
    indent = ""
    at = start
    while at < len(lines) and (not lines[at] or lines[at].startswith(" ")):
        line = lines[at]
        at += 1
        if not line:
            continue
        if not line.strip(" "):
            return None
        if not indent:
            indent = line[: len(line) - len(line.lstrip(" "))]
        elif not line.startswith(indent):
            return None
    return at if indent else None

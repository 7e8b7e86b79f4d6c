"""What a list needs to know of a YAML mapping: its plain top-level values, and what is wrong with it.

Values are given as they are written: ``1.10``, ``10:00`` and ``NO`` keep their spelling. Nothing is constructed, so that a tag
or a date that does not exist cannot do harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from studio_tui.files.yaml_complaints import complaint
from studio_tui.files.yaml_plain import plain_values

MAX_CHARACTERS: Final = 512 * 1024
"""Longer text is not parsed: a prompt may have 256 KiB (lionagi 0.36), and parsing takes time by length."""

_SHOWN_FAULTS: Final = 3
_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"

_CUT: Final = re.compile(r" +(#[^\s#!].*)")


@dataclass(frozen=True, slots=True)
class YamlFacts:
    """Top-level scalars by key (``None`` for null), and remarks. With ``error`` nothing else can be relied on.

    ``empty`` means that there is nothing but comments.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    error: str | None = None
    notes: tuple[str, ...] = ()
    empty: bool = False


def read_yaml(text: str, *, first_line: int = 1) -> YamlFacts:
    """Facts of one mapping. Lines in ``error`` and ``notes`` count from ``first_line``. Line ends must be ``\\n``."""
    if len(text) > MAX_CHARACTERS:
        return YamlFacts(error=f"longer than {MAX_CHARACTERS // 1024} KiB; not parsed")
    plain = plain_values(text)
    if plain is not None:
        return YamlFacts(plain)
    try:
        node = _compose(text)
    except RecursionError:
        return YamlFacts(error="nested too deep to be read")
    except Exception as error:  # it meets any text, and has been seen to raise more than its own errors
        return YamlFacts(error=_fault(error, first_line))
    if node is None:
        return YamlFacts(empty=True)
    if not _is_mapping(node):
        return YamlFacts(error=f"line {_line(node, first_line)}: not a mapping of keys to values")
    faults = _faults(node, first_line)
    if faults:
        more = f"; and {len(faults) - _SHOWN_FAULTS} more" if len(faults) > _SHOWN_FAULTS else ""
        return YamlFacts(error="; ".join(faults[:_SHOWN_FAULTS]) + more)
    return YamlFacts(_scalars(node), notes=tuple(_cut_values(node, text, first_line)))


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML  # imported late: it costs 60 ms, and this runs in a thread

    parser = YAML(typ="safe", pure=True)
    parser.composer.warn_double_anchors = False  # it would write to the screen
    return parser.compose(text)


def _line(node: Any, first_line: int) -> int:
    return int(node.start_mark.line) + first_line


def _is_mapping(node: Any) -> bool:
    return type(node).__name__ == "MappingNode"


def _is_scalar(node: Any) -> bool:
    return type(node).__name__ == "ScalarNode"


def _fault(error: Exception, first_line: int) -> str:
    """The parser's complaint in one line, with its place and a hint."""
    said, line = complaint(error)
    return said if line is None else f"line {line + first_line}: {said}"


def _nodes(root: Any) -> Iterator[Any]:
    """Every node once, however often it is referred to."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if _is_mapping(node):
            waiting.extend(part for pair in node.value for part in pair)
        elif not _is_scalar(node):
            waiting.extend(node.value)


def _faults(root: Any, first_line: int) -> list[str]:
    """Keys written twice and dates that do not exist, in the order of their lines. A merged key may be written again."""
    found: list[tuple[int, str]] = []
    for node in _nodes(root):
        if _is_mapping(node):
            found.extend(_repeated(node, first_line))
        elif _is_scalar(node) and node.tag == _TIMESTAMP and not _exists(node.value):
            line = _line(node, first_line)
            found.append((line, f"line {line}: there is no date {node.value}"))
    return [text for _, text in sorted(found)]


def _repeated(node: Any, first_line: int) -> Iterator[tuple[int, str]]:
    first: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not _is_scalar(key) or key.tag == _MERGE:
            continue
        line, identity = _line(key, first_line), (key.tag, key.value)
        if identity in first:
            yield line, f"line {line}: the key {key.value!r} is written twice (first in line {first[identity]})"
        first.setdefault(identity, line)


def _exists(stamp: str) -> bool:
    parts = re.match(r"(\d+)-(\d+)-(\d+)", stamp)
    try:
        return parts is None or bool(date(*(int(part) for part in parts.groups())))
    except ValueError:
        return False


def _scalars(node: Any) -> dict[str, str | None]:
    return {
        str(key.value): None if value.tag == _NULL else str(value.value)
        for key, value in node.value
        if _is_scalar(key) and _is_scalar(value)
    }


def _cut_values(root: Any, text: str, first_line: int) -> list[str]:
    """Values that end at `` #`` where more of the value seems meant (``fix #12 now``)."""
    lines = text.split("\n")
    found: list[tuple[int, str]] = []
    for node in _nodes(root):
        if not _is_scalar(node) or node.style or not node.value:
            continue
        end = node.end_mark
        match = _CUT.match(lines[end.line], end.column) if end.line < len(lines) else None
        if match:
            line = end.line + first_line
            found.append((line, f"line {line}: the value ends before {match[1][:20]!r}; quote it if that belongs to it"))
    return [note for _, note in sorted(found)]

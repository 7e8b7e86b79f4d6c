"""A YAML document as plain values, with the line of each, and every fault of its form at once.

It is read as lionagi 0.36 reads a declaration (YAML 1.1, merge keys, a bare ``on`` as a key is text), but a key that is written
twice is a fault, and aliases may not unfold to more than a person could have written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from studio_tui.application.ports.schedule_sets import TextFault
from studio_tui.files.yaml_complaints import complaint
from studio_tui.files.yaml_scalars import ScalarError, scalar_value

MAX_VALUES: Final = 100_000
"""Values of one document after its aliases are unfolded."""
MAX_DEPTH: Final = 40

_DIRECTIVE: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*%")
_BOOL: Final = "tag:yaml.org,2002:bool"
_MERGE: Final = "tag:yaml.org,2002:merge"
_COLLECTIONS: Final = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlTree:
    """The values, the line of each path (from 1), and the faults. With faults the values are not to be relied on."""

    data: Any = None
    lines: Mapping[Path, int] = field(default_factory=dict)
    faults: tuple[TextFault, ...] = ()


def read_tree(text: str) -> YamlTree:
    """The document in ``text``; its line ends must be ``\\n``."""
    if directive := _DIRECTIVE.match(text):  # it would change what words mean, but not to the peer
        line = directive.group().count("\n") + 1
        return YamlTree(
            faults=(TextFault("not_yaml", "directives are not allowed; leave out the line that begins with %", line),)
        )
    try:
        node = _compose(text)
        if node is None:
            return YamlTree(faults=(TextFault("empty", "there is nothing in it; allowed: a mapping of keys to values", 1),))
        reader = _Reader(text)
        data = reader.value(node, ())
    except RecursionError:
        return YamlTree(faults=(TextFault("too_deep", f"nested too deep; at most {MAX_DEPTH} levels are allowed"),))
    except _TooMuch as error:
        return YamlTree(faults=(TextFault("too_large", str(error), error.line),))
    except Exception as error:  # it meets any text, and has been seen to raise more than its own errors
        return YamlTree(faults=(_syntax(error),))
    return YamlTree(data, reader.lines, tuple(sorted(reader.faults, key=lambda fault: fault.line or 0)))


class _TooMuch(Exception):
    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(message)


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML  # imported late: it costs 60 ms

    parser = YAML(typ="safe", pure=True)
    parser.version = "1.1"
    parser.composer.warn_double_anchors = False  # it would write to the screen
    return parser.compose(text)


def _syntax(error: Exception) -> TextFault:
    said, line = complaint(error)
    return TextFault("not_yaml", f"not valid YAML: {said}", line + 1 if line is not None else None)


class _Reader:
    """Turns nodes into values, and counts them: an alias counts as often as it is used."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MAX_VALUES
        self.lines: dict[Path, int] = {}
        self.faults: list[TextFault] = []

    def value(self, node: Any, path: Path) -> Any:
        """The value of a node. Its faults are noted, and a value stands in for it."""
        self._count(node, path)
        self.lines.setdefault(path, _line(node))
        kind = type(node).__name__
        if kind == "ScalarNode":
            try:
                return scalar_value(str(node.tag), node.value)
            except ScalarError as error:
                self._note("unreadable", str(error), node, path)
                return None
        if str(node.tag) not in _COLLECTIONS:
            self._note("unreadable", f"the tag {node.tag} is not allowed; leave it out", node, path)
            return None
        if kind == "SequenceNode":
            return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._refuse_repeated(node, path)
        for key, value in self._pairs(node, path):
            name = self._key(key, path)
            if name is not None:
                self.lines[*path, name] = _line(key)
                found[name] = self.value(value, (*path, name))
        return found

    def _pairs(self, node: Any, path: Path) -> Iterator[tuple[Any, Any]]:
        """The pairs of a mapping; merged ones first, so that its own come over them, and the first of several merged last."""
        merged = [value for key, value in node.value if str(key.tag) == _MERGE]
        for value in merged:
            self._count(value, path)
            sources = value.value if type(value).__name__ == "SequenceNode" else [value]
            for source in reversed(sources):
                if type(source).__name__ != "MappingNode":
                    self._note("unreadable", "<< takes a mapping, or a list of mappings", value, path)
                else:
                    yield from self._pairs(source, path)
        yield from ((key, value) for key, value in node.value if str(key.tag) != _MERGE)

    def _key(self, node: Any, path: Path) -> str | None:
        """A key as text; a bare ``on`` or ``yes`` is what was written."""
        tag = str(node.tag)
        written = getattr(node, "value", None)
        if type(node).__name__ != "ScalarNode":
            self._note("not_a_key", "a key must be text", node, path)
            return None
        if tag == "tag:yaml.org,2002:str" or (tag == _BOOL and not self._has_tag(node)):
            return str(written)
        shown = f"{tag.rpartition(':')[2]} {written!r}" if self._has_tag(node) else repr(written)
        self._note("not_a_key", f"the key {shown} is no text; put it in quotes", node, path)
        return None

    def _has_tag(self, node: Any) -> bool:
        """Whether a tag was written before a scalar."""
        written = self._text[node.start_mark.index : node.end_mark.index]
        return not node.style and "!" in written.removesuffix(str(node.value))

    def _refuse_repeated(self, node: Any, path: Path) -> None:
        first: dict[str, int] = {}
        for key, _ in node.value:
            if type(key).__name__ != "ScalarNode" or str(key.tag) == _MERGE:
                continue
            if key.value in first:
                message = f"is written twice (first in line {first[key.value]}); keep one"
                self._note("repeated", message, key, (*path, str(key.value)))
            first.setdefault(key.value, _line(key))

    def _count(self, node: Any, path: Path) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch(f"unfolds to more than {MAX_VALUES:,} values; write fewer aliases", _line(node))
        if len(path) > MAX_DEPTH:
            raise _TooMuch(f"nested too deep; at most {MAX_DEPTH} levels are allowed", _line(node))

    def _note(self, code: str, message: str, node: Any, path: Path) -> None:
        self.faults.append(TextFault(code, message, _line(node), path))


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1

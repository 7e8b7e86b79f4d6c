"""Front matter of Markdown definitions, read as a person would: a byte-order mark, any line ends, blank lines before it and
blanks after its fences change nothing, and a block that never ends is a defect, not an absence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from studio_tui.files.yaml_facts import YamlFacts, read_yaml

_FENCE: Final = re.compile(r"---[ \t]*")
_DESCRIPTION_LENGTH: Final = 2_000


@dataclass(frozen=True, slots=True)
class Head:
    """What a list shows of a definition file. ``error`` says what is wrong with it, with the line where one can be named."""

    name: str | None = None
    description: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where the block is: its YAML with ``\\n`` line ends, the line that it begins in (from 1), and whether it is closed."""

    yaml: str
    first_line: int
    closed: bool


def unify(text: str) -> str:
    """The text with ``\\n`` line ends and no byte-order mark; for reading only, never for saving."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def find_front_matter(text: str) -> FrontMatter | None:
    """The block at the start of a text that went through :func:`unify`, or ``None`` when it begins with something else."""
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if start == len(lines) or not _FENCE.fullmatch(lines[start]):
        return None
    for end in range(start + 1, len(lines)):
        if _FENCE.fullmatch(lines[end]):
            return FrontMatter("\n".join(lines[start + 1 : end]) + "\n", start + 2, closed=True)
    return FrontMatter("\n".join(lines[start + 1 :]), start + 2, closed=False)


def markdown_head(text: str, *, complete: bool = True) -> Head:
    """What an agent or skill file says of itself. ``complete`` is ``False`` when ``text`` is only the start of the file."""
    text = unify(text)
    if not text.strip():
        return Head(error="the file is empty" if complete else "its beginning is blank")
    block = find_front_matter(text)
    if block is None:
        return Head(notes=("no front matter: nothing is set",))
    if not block.closed:
        opening = f"line {block.first_line - 1}: the front matter that begins here"
        return Head(error=f"{opening} is not closed with ---" if complete else f"{opening} is too long to be read")
    facts = read_yaml(block.yaml, first_line=block.first_line)
    return Head(notes=("the front matter is empty: nothing is set",)) if facts.empty else _head(facts)


def yaml_head(text: str) -> Head:
    """What a playbook says of itself."""
    text = unify(text)
    if not text.strip():
        return Head(error="the file is empty")
    facts = read_yaml(text)
    return Head(error="there is nothing but comments in it") if facts.empty else _head(facts)


def _head(facts: YamlFacts) -> Head:
    description = (facts.values.get("description") or "").strip()
    return Head(
        name=facts.values.get("name"),
        description=description[:_DESCRIPTION_LENGTH] or None,
        error=facts.error,
        notes=facts.notes,
    )

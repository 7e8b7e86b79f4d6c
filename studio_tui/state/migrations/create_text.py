"""Reading a CREATE TABLE statement as far as a rebuild needs it: which definition belongs to which column."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
      | (?P<open>\() | (?P<close>\)) | (?P<comma>,) | (?P<other>[^\s'"`\[(),/-]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_TABLE_CONSTRAINTS: Final = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"})


def column_definitions(create_statement: str) -> dict[str, str] | None:
    """The text of each column's definition by the column's name; ``None`` when the statement cannot be read for certain.

    Comments are left out: a definition that ends with one would swallow what follows it in another statement.
    """
    items = _items(create_statement)
    if items is None:
        return None
    found: dict[str, str] = {}
    for tokens in items:
        if tokens and tokens[0].upper() not in _TABLE_CONSTRAINTS:
            found[unquoted(tokens[0])] = _joined(tokens)
    return found


def table_constraints(create_statement: str) -> list[str]:
    """The constraints that stand by themselves behind the columns; none when the statement cannot be read."""
    items = _items(create_statement) or []
    return [_joined(tokens) for tokens in items if tokens and tokens[0].upper() in _TABLE_CONSTRAINTS]


def unquoted(name: str) -> str:
    """A name without its quotes."""
    if len(name) > 1 and name[0] in "\"`'[":
        inner, quote = name[1:-1], name[0]
        return inner if quote == "[" else inner.replace(quote * 2, quote)
    return name


def _items(create_statement: str) -> list[list[str]] | None:
    """The tokens of each item between the outermost parentheses; spaces inside an item are tokens of their own."""
    items: list[list[str]] = [[]]
    depth = 0
    for token in _TOKEN.finditer(create_statement):
        kind, text = token.lastgroup, token.group()
        if kind == "close":
            depth -= 1
            if depth == 0:
                return items
        if depth and kind == "comma" and depth == 1:
            items.append([])
        elif depth and (items[-1] or not (kind == "comment" or text.isspace())):
            items[-1].append(" " if kind == "comment" else text)
        if kind == "open":
            depth += 1
    return None


def _joined(tokens: list[str]) -> str:
    return "".join(tokens).strip()

"""A document as YAML that YAML 1.1 and 1.2 read alike: what might be anything but text is quoted, long texts are blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
_NOT_TEXT: Final = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
"""Plain words that YAML 1.1 takes for something else, in small letters."""
_STEP: Final = "  "


def yaml_text(document: Mapping[str, Any]) -> str:
    """The text of a document of mappings, lists, texts, numbers, switches and null."""
    return "\n".join(_mapping(document, "")) + "\n"


def _mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in values.items():
        yield from _under(f"{indent}{_word(str(key))}:", value, indent + _STEP)


def _list(values: list[Any] | tuple[Any, ...], indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping) and value:
            first, *rest = _mapping(value, indent + _STEP)
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield from _under(f"{indent}-", value, indent + _STEP)


def _under(head: str, value: Any, indent: str) -> Iterator[str]:
    """A value behind its key: on the line of the key, or below it."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent)
    elif isinstance(value, list | tuple) and value:
        yield head
        yield from _list(value, indent)
    elif isinstance(value, str) and _is_block(value):
        yield f"{head} {'|' if value.endswith(chr(10)) else '|-'}"
        yield from (indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _is_block(text: str) -> bool:
    """Whether a text can stand as a block and comes back as it is."""
    lines = text.removesuffix("\n").split("\n")
    sound = len(lines) > 1 and all(line == line.rstrip() for line in lines) and lines[0] == lines[0].lstrip() and lines[0] != ""
    return sound and lines[-1] != "" and all(map(str.isprintable, lines))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _word(value)
    return _number(value) if isinstance(value, float) else json.dumps(value)


def _number(value: float) -> str:
    """A number with an exponent needs a dot before and a sign behind it in YAML 1.1."""
    digits, e, exponent = repr(value).partition("e")
    if not e:
        return digits
    signed = exponent if exponent.startswith(("+", "-")) else f"+{exponent}"
    return f"{digits}{'' if '.' in digits else '.0'}e{signed}"


def _word(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else _escape(ord(character)) for character in quoted)


def _escape(code: int) -> str:
    """What cannot be seen is spelt, so that no reader and no terminal loses it."""
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

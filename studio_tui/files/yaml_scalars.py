"""What a YAML 1.1 scalar means, as lionagi 0.36 reads it: ``yes`` is true, ``010`` is 8, ``1:30`` is 90, ``1e3`` is text."""

from __future__ import annotations

import re
from typing import Final

_PREFIX: Final = "tag:yaml.org,2002:"
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_ODD_EXPONENT: Final = re.compile(r"[eE][0-9]")
_BASES: Final = (("0b", 2), ("0x", 16))

Scalar = str | int | float | bool | None


class ScalarError(ValueError):
    """The scalar has no value that a document may hold; the message says why and what is allowed."""


def scalar_value(tag: str, text: str) -> Scalar:
    """The value of a scalar with this tag. Raises :class:`ScalarError`."""
    match tag.removeprefix(_PREFIX):
        case "str" | "value":
            return _text(text)
        case "null":
            return None
        case "bool":
            return text if text in ("y", "Y", "n", "N") else text.lower() in ("yes", "true", "on")
        case "int":
            return _whole(text)
        case "float":
            return text if _is_text(text) else _number(text)
        case "timestamp":
            raise ScalarError(f"YAML reads {text} as a date; put it in quotes")
        case "merge":
            raise ScalarError("<< merges mappings and is no value; put it in quotes")
    raise ScalarError(f"the tag {tag.removeprefix(_PREFIX)!r} is not allowed; allowed: text, numbers, true, false, null")


def _text(text: str) -> str:
    if _NO_TEXT.search(text):
        raise ScalarError("holds a NUL or half a character, which nothing can store; leave it out")
    return text


def _is_text(text: str) -> bool:
    """An exponent needs a dot before and a sign behind it, else YAML 1.1 takes the whole for text."""
    unsigned = _ODD_EXPONENT.search(text) is not None
    return unsigned or ("." not in text and ":" not in text)


def _whole(text: str) -> int:
    digits, sign = _signed(text)
    try:
        for prefix, base in _BASES:
            if digits.startswith(prefix):
                return sign * int(digits[len(prefix) :], base)
        if ":" in digits:
            return sign * int(_sixties(digits))
        return sign * int(digits, 8 if len(digits) > 1 and digits.startswith("0") else 10)
    except ValueError:
        raise ScalarError(f"{text[:40]} is no whole number that can be read") from None


def _number(text: str) -> float:
    digits, sign = _signed(text.lower())
    if digits == ".nan":
        return float("nan")
    try:
        return sign * float("inf" if digits == ".inf" else _sixties(digits) if ":" in digits else digits)
    except ValueError:
        raise ScalarError(f"{text[:40]} is no number that can be read") from None


def _signed(text: str) -> tuple[str, int]:
    digits = text.replace("_", "")
    return digits.lstrip("+-"), -1 if digits.startswith("-") else 1


def _sixties(digits: str) -> float:
    """``1:30:15`` as hours, minutes and seconds."""
    value = 0.0
    for part in digits.split(":"):
        value = value * 60 + float(part)
    return value

"""Text that can be stored, printed and sent: without halves of surrogate pairs, which bytes that are no UTF-8 come in as."""

from __future__ import annotations

from collections.abc import Mapping

from studio_tui.application.errors import ValidationFailure


def is_wellformed(text: str) -> bool:
    """Whether every character of ``text`` is a whole one."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def mended(text: str) -> str:
    """``text`` with a mark for each half character. JSON can spell them, so stored documents may hold some."""
    return text if is_wellformed(text) else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def require_wellformed(**fields: str | None) -> None:
    """Raise :class:`ValidationFailure` for the first field that holds half a character."""
    for field, text in fields.items():
        if text is not None and not is_wellformed(text):
            raise ValidationFailure.of(field, "not_text", "holds bytes that are no text")


def mended_json(value: object) -> object:
    """A stored JSON value whose texts, and names of fields, are all whole."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, Mapping):
        return {mended(str(key)): mended_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mended_json(item) for item in value]
    return value

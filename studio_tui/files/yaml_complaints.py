"""What a YAML parser complains of, in one line and with a hint for what people most often meant."""

from __future__ import annotations

from typing import Final

_HINTS: Final = (
    ("mapping values are not allowed", "a value with ': ' in it needs quotes"),
    ("'\\t'", "indent with spaces, not tabs"),
    ("cannot start any token", "a value that begins with this character needs quotes"),
    ("alias", "a value that begins with * needs quotes"),
    ("another document", "only one document is allowed"),
)


def complaint(error: Exception) -> tuple[str, int | None]:
    """The complaint, and the line that it is about (from 0) where the parser tells one."""
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).split("\n", 1)[0])
    mark = getattr(error, "problem_mark", None)
    if "end of stream" in problem or "<stream end>" in problem:
        mark = getattr(error, "context_mark", None) or mark
        problem = f"{getattr(error, 'context', None) or 'reading'}: the end is missing"
    hint = next((f" ({hint})" for sign, hint in _HINTS if sign in f"{problem} {getattr(error, 'context', '')}"), "")
    return f"{problem}{hint}", mark.line if mark is not None else None

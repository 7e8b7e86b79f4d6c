"""What people write on runs: a label, and tags (lionagi 0.36, session_naming and run tags)."""

from __future__ import annotations

import unicodedata
from typing import Final

LABEL_LIMIT: Final = 160
"""Characters of a label."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})


def label_fault(label: str) -> str | None:
    """Why a label may not be stored, or ``None``."""
    if len(label.strip()) > LABEL_LIMIT:
        return f"is longer than {LABEL_LIMIT} characters"
    if any(unicodedata.category(character) in _HIDDEN for character in label.strip()):
        return "holds a character that cannot be seen"
    return None


def cleaned_label(label: str | None) -> str | None:
    """A label as it is stored: without blanks around it; ``None``, which takes the label off, for a blank one."""
    return (label or "").strip() or None


def cleaned_tag(tag: str) -> str:
    """A tag as it is stored; empty for one that says nothing."""
    return tag.strip()

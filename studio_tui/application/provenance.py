"""Who acts, in one word."""

from __future__ import annotations

from typing import Final

from studio_tui.application.ports import ActProvenance

NOBODY: Final = "studio-tui"
"""Where the operating system does not know who runs this program."""


def actor_of(by: ActProvenance) -> str:
    """The name under which an act is written down; never empty."""
    return by.actor or NOBODY

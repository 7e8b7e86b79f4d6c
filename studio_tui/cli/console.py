"""``studio-tui`` without a command: the console, if there is a terminal to draw it on."""

from __future__ import annotations

from collections.abc import Mapping

from studio_tui.application.errors import ValidationFailure
from studio_tui.cli.trouble import warn


def open_console(flags: Mapping[str, object]) -> int:
    """Draw the console until somebody leaves it; the exit code."""
    from studio_tui.settings import terminal_refusal

    refusal = terminal_refusal()
    if refusal is not None:
        warn(f"{refusal}; commands such as studio-tui runs list work without one")
        return ValidationFailure.exit_code
    from studio_tui.console import run_console

    return run_console(flags)

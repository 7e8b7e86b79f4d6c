"""A click group that imports a command's module when that command is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """Commands by name as ``("module:attribute", "one line of help")``: the list of commands costs no import."""

    def __init__(self, *args: Any, verbs: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they were given."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now."""
        if cmd_name not in self._verbs:
            return None
        module, _, attribute = self._verbs[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, from the given lines."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._verbs.items()])

"""Tells the commands of schedules how their firings ended (``notify_on`` and ``notify_command``, lionagi 0.36).

What is owed stands in the store since the transaction that wrote the end, so a host that dies in between leaves it to the next.
It is given at least once: who is killed while the command runs has it run again after the lease. One that fails is not run again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Final

from studio_tui.application.ports.commands import CommandPort
from studio_tui.application.ports.notices import NoticePort
from studio_tui.domain.notices import CommandRefused, Notice, argv_of, envelope
from studio_tui.domain.transports import SECONDS

log = logging.getLogger(__name__)

_SAID: Final = 300
"""Characters of a command's complaint that come to the log."""

_SHORT: Final = 4
"""An argument of fewer characters is no secret."""


class Notices:
    """A kind of errand (see :mod:`studio_tui.scheduler.errands`)."""

    def __init__(self, notices: NoticePort, commands: CommandPort) -> None:
        self._notices, self._commands = notices, commands

    async def next_at(self) -> float | None:
        """When a notice comes due."""
        return await self._notices.next_at()

    async def claim(self, limit: int) -> Sequence[Notice]:
        """Begin to give the notices that are due."""
        return await self._notices.claim_due(limit=limit)

    async def run(self, errand: Notice) -> None:
        """Tell one command; that it failed is a line in the log, and no trouble of the firing's."""
        if errand.command is not None:
            await self._tell(errand, errand.command)
        await self._notices.given(errand)

    async def _tell(self, notice: Notice, command: str) -> None:
        try:
            argv = argv_of(command)
        except CommandRefused as refused:
            log.warning("schedule %s: its notify command is not run: %s", notice.schedule_name, refused)
            return
        told = await self._commands.tell(argv, json.dumps(envelope(notice)), seconds=SECONDS)
        if told.error is not None:
            words = _without_arguments(told.error, argv)
            log.warning("schedule %s: its notify command failed: %s", notice.schedule_name, words)


def _without_arguments(complaint: str, argv: Sequence[str]) -> str:
    """The first line of a complaint. Arguments may be secrets, and commands like to repeat them."""
    line = complaint.split("\n", 1)[0]
    for argument in sorted(argv[1:], key=len, reverse=True):
        if len(argument) >= _SHORT:
            line = line.replace(argument, "***")
    return line[:_SAID]

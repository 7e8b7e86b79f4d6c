"""Keys in the order in which they were typed, each where the one before it has left the focus.

Textual gives a key to the widget that has the focus when the key is read, and does what the key is bound to some turns of the
loop later. Of keys that arrive together, as they do over a slow line, those typed after ``/`` would go to the list, where letters
are acts. So a key that follows close on another waits until that one has done its work.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

Typed = events.Key | events.Paste

_CLOSE: Final = 0.05
"""Seconds after a key in which its work may still be under way."""
_ROUNDS: Final = 3
"""Ways up from the focused widget that the work of one key may take: its binding, a message of a widget, a change of focus."""
_PATIENCE: Final = 0.5
"""Seconds after which the next key goes ahead although nothing was heard of the one before: its widget is gone."""


class Passed(Message):
    """Goes the way of a key, from the focused widget up to the app; when it is there, so is the key."""

    def __init__(self, turn: int, rounds: int) -> None:
        super().__init__()
        self.turn, self.rounds = turn, rounds


class TypedKeys:
    """Hands keys and pasted text to ``handle``, one after the other. The app gives :meth:`passed` every :class:`Passed`."""

    def __init__(self, app: App[Any], handle: Callable[[Typed], Awaitable[None]]) -> None:
        self._app, self._handle = app, handle
        self._waiting: deque[Typed] = deque()
        self._turn = 0
        self._handled_at = float("-inf")
        self._target: MessagePump = app

    async def take(self, event: Typed) -> None:
        """Handle it now, or after those before it."""
        if self._waiting:
            self._waiting.append(event)
        elif time.monotonic() - self._handled_at >= _CLOSE:
            await self._give(event)
        else:
            self._waiting.append(event)
            self._follow()

    async def passed(self, message: Passed) -> None:
        """The work of the last key is done, or one more round of it."""
        if message.turn != self._turn:
            return
        if message.rounds > 1:
            self._app.call_later(self._send, message.turn, message.rounds - 1)
        else:
            self._app.call_later(self._next, message.turn)

    async def _give(self, event: Typed) -> None:
        self._target = self._app.focused or self._app.screen
        await self._handle(event)
        self._handled_at = time.monotonic()

    def _follow(self) -> None:
        self._turn += 1
        self._send(self._turn, _ROUNDS)
        asyncio.get_running_loop().call_later(_PATIENCE, self._app.call_later, self._next, self._turn)

    def _send(self, turn: int, rounds: int) -> None:
        if not self._target.post_message(Passed(turn, rounds)):
            self._app.post_message(Passed(turn, rounds))

    async def _next(self, turn: int) -> None:
        if turn == self._turn and self._waiting:
            self._turn += 1
            await self._give(self._waiting.popleft())
            if self._waiting:
                self._follow()

"""Commands that are told something and answer with their exit code (what messages and notices are carried by)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Told:
    """What became of telling a command something: ``error`` says in words why it does not count, and is ``None`` when it does."""

    error: str | None = None


class CommandPort(Protocol):
    """Programs of this machine, run without a shell."""

    async def tell(self, argv: Sequence[str], text: str, *, seconds: float) -> Told:
        """Run a command that finds ``text`` on its standard input, in a session of its own.

        After ``seconds``, or when the caller is cancelled, it is killed with its group. What it does never raises.
        """
        ...


@dataclass(frozen=True, slots=True)
class Transport:
    """The command that carries messages, as configured; ``problem`` says in words why there is none."""

    template: tuple[str, ...] = ()
    problem: str | None = None


class TransportPort(Protocol):
    """Where the command that carries messages is configured."""

    def transport(self) -> Transport:
        """What is configured now. It reads a file: call it in a thread."""
        ...

"""What declared sets of schedules need of files and of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from studio_tui.application.ports.schedules import ActProvenance, NewSchedule
from studio_tui.domain.schedules import ScheduleRecord


@dataclass(frozen=True, slots=True)
class TextFault:
    """A fault in the text of a file: a stable code, what is wrong and what is allowed, and where (lines count from 1)."""

    code: str
    message: str
    line: int | None = None
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class SetFile:
    """A file that should hold a set: its plain values with the line of each path, or why it cannot be read.

    ``directory`` is the absolute folder that relative paths in it start from.
    """

    path: str
    directory: str
    data: Any = None
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)
    faults: tuple[TextFault, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """What a declaration needs of an agent's profile, as its file says it: JSON values, absent ones ``None``."""

    model: object = None
    effort: object = None
    role: object = None
    yolo: bool = False
    bypass: bool = False
    fast_mode: bool = False


class SetFilesPort(Protocol):
    """Reads sets and what they refer to, and writes exported ones. All of it blocks: call it in a thread."""

    def read_set(self, path: str) -> SetFile:
        """The document in a file. Raises :class:`NotFound`."""
        ...

    def resolve(self, path: str, directory: str) -> str:
        """The absolute path without links that ``path`` means in ``directory``."""
        ...

    def project_root(self, directory: str) -> str:
        """The git work tree around a folder, or the folder itself."""
        ...

    def text_of(self, path: str) -> str | TextFault:
        """The text of a flow's file, or why it cannot be read."""
        ...

    def profile(self, name: str, directory: str) -> AgentProfile | TextFault:
        """The profile that an agent of this name has when it is started in ``directory``, or why there is none."""
        ...

    def write(self, texts: Mapping[str, str], *, overwrite: bool) -> None:
        """Write files, each whole or not at all, by absolute path.

        Raises :class:`Conflict`, before anything is written, when one is there already and must not be written over, and
        :class:`StateUnavailable` when the disk refuses.
        """
        ...


@dataclass(frozen=True, slots=True)
class DeclaredRow:
    """A schedule with what its declaration says, where it has one. JSON that cannot be read is ``None``."""

    schedule: ScheduleRecord
    authored: Mapping[str, Any] | None = None
    resolved: Mapping[str, Any] | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class RowChange:
    """Columns to write on a schedule that is there. ``cause`` says why it is on or off afterwards, should that change."""

    schedule_id: str
    values: Mapping[str, object]
    cause: Literal["declared", "omitted"] = "declared"


@dataclass(frozen=True, slots=True)
class SetWrite:
    """Everything that one set changes, and what must still be so when it is written.

    ``seen`` are the versions (``updated_at``) of all schedules that the plan looked at; ``names`` are all names that it looked
    for, whether it found one or not.
    """

    owner_key: str
    names: tuple[str, ...]
    seen: Mapping[str, float | None]
    creates: Sequence[NewSchedule] = ()
    changes: Sequence[RowChange] = ()


class ScheduleSetPort(Protocol):
    """Reads schedules with their declarations and writes a whole set at once."""

    async def rows_of_set(self, owner_key: str, names: Sequence[str]) -> tuple[DeclaredRow, ...]:
        """Schedules that a set owns, and those of these names, by name."""
        ...

    async def declared_rows(self, *, managed: bool) -> tuple[DeclaredRow, ...]:
        """Every schedule that a declaration or a command line made, or every other one, by name."""
        ...

    async def write_set(self, write: SetWrite, *, now: float, by: ActProvenance) -> None:
        """Write a set in one transaction, with the history of what went on or off.

        Raises :class:`Conflict`, and writes nothing, when anything that the plan saw is not so any more.
        """
        ...

"""Projects, tags and labels as the operations need them (ADR-0077 D4, ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.projects import ProjectList, ProjectRecord, ProjectUse


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """New values of ``description``, ``github`` and ``path``; ``None`` clears one, and what is not named stays.

    ``seen`` are the values that the caller saw: one that is not so any more is a conflict. Its ``updated_at`` says nothing
    about that, since every run of a project moves it.
    """

    values: Mapping[str, str | None]
    seen: Mapping[str, str | None] | None = None


class ProjectPort(Protocol):
    """Projects, and which runs are in them."""

    async def list_projects(self) -> ProjectList:
        """Every project with its number of runs, the one that was seen last first."""
        ...

    async def get_project(self, name: str) -> ProjectRecord | None:
        """One project with its number of runs."""
        ...

    async def project_use(self, name: str) -> ProjectUse:
        """What a project's runs are made of. It reads all of them: ask for it when it is shown."""
        ...

    async def create_project(
        self, name: str, *, github: str | None = None, description: str | None = None, path: str | None = None
    ) -> ProjectRecord:
        """Make a project of our own. Raises :class:`ValidationFailure`, and :class:`Conflict` when the name is taken."""
        ...

    async def register_project(
        self, name: str, source: str, *, path: str | None = None, github: str | None = None
    ) -> ProjectRecord:
        """Note that a project was seen. Only a declaration takes the place of its source; path and repository are replaced when
        they are given, and never cleared."""
        ...

    async def update_project(self, name: str, changes: ProjectChanges) -> ProjectRecord:
        """Change a project. Without changes nothing is written.

        Raises :class:`ValidationFailure`, :class:`NotFound`, :class:`PermissionDenied` for one that is not edited here, and
        :class:`Conflict`.
        """
        ...

    async def assign_runs(self, name: str, run_ids: Sequence[str]) -> int:
        """Put runs into a project by hand, which is made when it is new; how many there were. Their times stay as they are."""
        ...

    async def assign_unassigned(self, name: str) -> int:
        """The same with every run that is in no project."""
        ...

    async def delete_project(self, name: str) -> None:
        """Delete a project of our own; its runs keep its name. Raises :class:`NotFound`, :class:`PermissionDenied`."""
        ...


class TagPort(Protocol):
    """What people write on runs. None of it moves a run's times: those say when the run itself did something."""

    async def add_tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Tag a run; all its tags after that. Raises :class:`ValidationFailure`, :class:`NotFound`."""
        ...

    async def remove_tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Take a tag off a run, if it is there; all its tags after that."""
        ...

    async def tags_of(self, run_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """The tags of runs in their order; a run without any is left out."""
        ...

    async def all_tags(self, *, limit: int) -> tuple[tuple[str, int], ...]:
        """Tags in their order, each with its number of runs."""
        ...

    async def set_label(self, run_id: str, label: str | None, *, seen: str | None) -> str | None:
        """Label a run, or take its label off; the label as stored. ``seen`` is the label that the caller saw.

        Raises :class:`ValidationFailure`, :class:`NotFound`, and :class:`Conflict` when it is another one by now.
        """
        ...

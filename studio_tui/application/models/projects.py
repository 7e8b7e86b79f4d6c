"""Projects, and which runs are in them (ADR-0077 D4)."""

from __future__ import annotations

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, RunId


class Project(ContractModel):
    """One project. ``editable`` and ``deletable`` follow from its source: others are changed where they come from."""

    name: str
    source: str
    path: str | None = None
    github: str | None = None
    description: str | None = None
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    last_seen_at: Epoch | None = None
    run_count: int = 0
    running_count: int = 0
    editable: bool
    deletable: bool
    problems: tuple[str, ...] = ()


class ProjectList(ContractModel):
    """Every project, the one that was seen last first, and how many runs belong to none."""

    projects: tuple[Project, ...] = ()
    unassigned_count: int = 0


class NameCount(ContractModel):
    """A name with its number of runs."""

    name: str
    runs: int


class ProjectDetail(Project):
    """One project with what its runs are made of, the most used first."""

    agents: tuple[NameCount, ...] = ()
    playbooks: tuple[NameCount, ...] = ()


class CreateProject(ContractModel):
    """Make a project of our own. Blanks around the name are cut off."""

    name: str = Field(min_length=1)
    description: str | None = None
    github: str | None = None
    path: str | None = None


class ProjectPatch(ContractModel):
    """Values of a project: what is left out stays as it is, an explicit null clears."""

    description: str | None = None
    github: str | None = None
    path: str | None = None


class UpdateProject(ContractModel):
    """Change a project. ``expected`` holds values that the caller saw: one that differs by now is a conflict."""

    name: str
    changes: ProjectPatch
    expected: ProjectPatch | None = None


class AssignRuns(ContractModel):
    """Put runs into a project by hand: those named, or every run that is in none. With neither, nothing is done."""

    name: str = Field(min_length=1)
    run_ids: tuple[RunId, ...] = ()
    unassigned: bool = False


class AssignResult(ContractModel):
    """How many runs were put into the project."""

    name: str
    assigned: int


class DeleteProject(ContractModel):
    """Delete a project of our own; its runs keep its name."""

    name: str

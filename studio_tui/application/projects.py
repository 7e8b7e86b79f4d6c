"""Projects, and which runs are in them (ADR-0077 D4)."""

from __future__ import annotations

from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DeleteProject,
    NameCount,
    Project,
    ProjectDetail,
    ProjectList,
    ProjectPatch,
    UpdateProject,
)
from studio_tui.application.ports import Clock, SidecarPort
from studio_tui.application.ports.projects import ProjectChanges, ProjectPort
from studio_tui.application.views import view
from studio_tui.domain.projects import ProjectRecord


@guarded
class ProjectService:
    """Projects as screens and commands see them. A store that is not there has none."""

    def __init__(self, *, projects: ProjectPort, sidecar: SidecarPort, clock: Clock) -> None:
        self._projects = projects
        self._journal = Journal(sidecar, clock)

    async def list_projects(self) -> ProjectList:
        """Every project, the one that was seen last first, and how many runs belong to none."""
        found = await self._projects.list_projects()
        return ProjectList(projects=tuple(map(_project, found.projects)), unassigned_count=found.unassigned)

    async def get_project(self, name: str) -> ProjectDetail:
        """One project with what its runs are made of. Raises :class:`NotFound`."""
        found = await self._projects.get_project(name)
        if found is None:
            raise NotFound("project", name)
        use = await self._projects.project_use(name)
        return view(
            ProjectDetail,
            found,
            editable=found.is_editable,
            deletable=found.is_deletable,
            agents=tuple(NameCount(name=agent, runs=runs) for agent, runs in use.agents),
            playbooks=tuple(NameCount(name=playbook, runs=runs) for playbook, runs in use.playbooks),
        )

    async def create_project(self, command: CreateProject) -> Project:
        """Make a project of our own. Raises :class:`ValidationFailure`, and :class:`Conflict` for a taken name."""
        made = await self._projects.create_project(
            command.name, github=command.github, description=command.description, path=command.path
        )
        await self._journal.note("project.create", made.name, "done")
        return _project(made)

    async def update_project(self, command: UpdateProject) -> Project:
        """Change a project; without changes nothing is written.

        Raises :class:`ValidationFailure`, :class:`NotFound`, :class:`PermissionDenied` for one that is changed elsewhere, and
        :class:`Conflict` when a value is not the one seen.
        """
        changes = _given(command.changes)
        seen = None if command.expected is None else _given(command.expected)
        stored = await self._projects.update_project(command.name, ProjectChanges(changes, seen))
        if changes:
            await self._journal.note("project.update", command.name, "done", changes)
        return _project(stored)

    async def assign_runs(self, command: AssignRuns) -> AssignResult:
        """Put runs into a project by hand, which is made when it is new. Named runs come before the unassigned."""
        if command.run_ids:
            assigned = await self._projects.assign_runs(command.name, command.run_ids)
        elif command.unassigned:
            assigned = await self._projects.assign_unassigned(command.name)
        else:
            return AssignResult(name=command.name, assigned=0)
        await self._journal.note("project.assign", command.name, "done", {"runs": assigned})
        return AssignResult(name=command.name, assigned=assigned)

    async def delete_project(self, command: DeleteProject) -> None:
        """Delete a project of our own; its runs keep its name. Raises :class:`NotFound`, :class:`PermissionDenied`."""
        await self._projects.delete_project(command.name)
        await self._journal.note("project.delete", command.name, "done")


def _project(record: ProjectRecord) -> Project:
    return view(Project, record, editable=record.is_editable, deletable=record.is_deletable)


def _given(patch: ProjectPatch) -> dict[str, str | None]:
    """What was said, explicit nulls among it."""
    return {name: getattr(patch, name) for name in sorted(patch.model_fields_set)}

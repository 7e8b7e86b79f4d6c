"""Projects, and which runs are in them (implements ``ProjectPort``; ADR-0077 D4, lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, case, delete, func, insert, update
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.ports import Clock
from studio_tui.application.ports.projects import ProjectChanges
from studio_tui.domain.projects import CHANGEABLE, DECLARING, MANUAL, STUDIO, ProjectList, ProjectRecord, ProjectUse
from studio_tui.domain.stats import ROLL_UP_LIMIT
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.dialect import insert_into
from studio_tui.state.queries import projects as queries
from studio_tui.state.queries.projects import project_record
from studio_tui.state.schema import projects, sessions
from studio_tui.state.stores.project_counts import ProjectCounts
from studio_tui.state.stores.reads import in_parts
from studio_tui.state.stores.writes import WriteStore, moment_after, require_some, require_text

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

_P: Final = projects.c


class ProjectStore(WriteStore):
    """Implements ``ProjectPort``. Runs belong to a project by its name; there is no foreign key."""

    def __init__(self, db: StateDB, clock: Clock) -> None:
        super().__init__(db, clock)
        self._counts = ProjectCounts(db)

    # --- reads --------------------------------------------------------------------------------------------------------

    async def list_projects(self) -> ProjectList:
        """Every project with its number of runs, the one that was seen last first."""
        known = [project_record(row) for row in await self._rows(queries.PROJECTS, {})]
        counts = await self._counts.get()
        running = {name: int(count) for name, count in await self._rows(queries.RUNNING_COUNTS, {})}
        counted = (
            replace(project, run_count=counts.by_project.get(project.name, 0), running_count=running.get(project.name, 0))
            for project in known
        )
        return ProjectList(tuple(counted), counts.unassigned)

    async def get_project(self, name: str) -> ProjectRecord | None:
        """One project with its number of runs."""
        row = await self._first_row(queries.PROJECT_BY_NAME, {"name": name})
        if row is None:
            return None
        runs = int(await self._only_value(queries.RUN_COUNT, {"name": name}) or 0)
        running = int(await self._only_value(queries.RUNNING_COUNT, {"name": name}) or 0)
        return replace(project_record(row), run_count=runs, running_count=running)

    async def project_use(self, name: str) -> ProjectUse:
        """What a project's runs are made of."""
        values = {"name": name, "limit": ROLL_UP_LIMIT}
        agents = await self._rows(queries.AGENTS_USED, values)
        playbooks = await self._rows(queries.PLAYBOOKS_USED, values)
        return ProjectUse(tuple(map(_use, agents)), tuple(map(_use, playbooks)))

    # --- changes ------------------------------------------------------------------------------------------------------

    async def create_project(
        self, name: str, *, github: str | None = None, description: str | None = None, path: str | None = None
    ) -> ProjectRecord:
        """Make a project of our own."""
        require_some(name=name)
        require_text(github=github, description=description, path=path)
        own = name.strip()
        given = {"name": own, "source": STUDIO, "github": github, "description": description, "path": path}

        async def work(connection: AsyncConnection) -> ProjectRecord:
            now = self._now()
            try:
                await connection.execute(insert(projects).values(**given, created_at=now, updated_at=now, last_seen_at=now))
            except IntegrityError as error:
                message = f"the name {own} is taken"
                raise Conflict("project", expected=None, actual=own, message=message) from error
            return await _one(connection, own)

        return await self._db.write(work)

    async def register_project(
        self, name: str, source: str, *, path: str | None = None, github: str | None = None
    ) -> ProjectRecord:
        """Note that a project was seen."""
        require_some(name=name, source=source)
        require_text(path=path, github=github)

        async def work(connection: AsyncConnection) -> ProjectRecord:
            statement = _seen(connection, name, source, self._now(), path=path, github=github)
            given = statement.excluded
            declared = case((given.source.in_(DECLARING), given.source), else_=_P.source)
            kept = {"path": func.coalesce(given.path, _P.path), "github": func.coalesce(given.github, _P.github)}
            await connection.execute(_upsert(statement, source=declared, **kept))
            return await _one(connection, name)

        return await self._db.write(work)

    async def update_project(self, name: str, changes: ProjectChanges) -> ProjectRecord:
        """Change a project; without changes nothing is written."""
        _check(changes)

        async def work(connection: AsyncConnection) -> ProjectRecord:
            found = await _one(connection, name)
            if not found.is_editable:
                raise PermissionDenied(f"the project comes from {found.source} and is changed there")
            _still_so(found, changes.seen or {})
            if changes.values:
                moved = moment_after(found.updated_at, self._now())
                await connection.execute(update(projects).where(_P.name == name).values(**changes.values, updated_at=moved))
            return await _one(connection, name)

        return await self._db.write(work)

    async def assign_runs(self, name: str, run_ids: Sequence[str]) -> int:
        """Put runs into a project by hand; how many there were."""
        if not run_ids:
            return 0
        return await self._assign(name, [sessions.c.id.in_(ids) for ids in in_parts(run_ids)])

    async def assign_unassigned(self, name: str) -> int:
        """Put every run that is in no project into this one; how many there were."""
        return await self._assign(name, [sessions.c.project.is_(None)])

    async def delete_project(self, name: str) -> None:
        """Delete a project of our own; its runs keep its name."""

        async def work(connection: AsyncConnection) -> None:
            found = await _one(connection, name)
            if not found.is_deletable:
                raise PermissionDenied(f"the project comes from {found.source}; only projects made in the studio are deleted")
            await connection.execute(delete(projects).where(_P.name == name, _P.source == STUDIO))

        await self._db.write(work)

    async def _assign(self, name: str, which: Sequence[ColumnElement[bool]]) -> int:
        """No time of a run moves: that would make a dead one look alive to whoever clears up."""
        require_some(name=name)

        async def work(connection: AsyncConnection) -> int:
            moved = 0
            for condition in which:
                statement = update(sessions).where(condition).values(project=name, project_source=MANUAL)
                moved += (await connection.execute(statement)).rowcount
            await connection.execute(_upsert(_seen(connection, name, STUDIO, self._now())))
            return moved

        return await self._db.write(work)


def _seen(
    connection: AsyncConnection, name: str, source: str, now: float, **given: str | None
) -> sqlite.Insert | postgresql.Insert:
    """The row of a project that was seen now."""
    values = {"name": name, "source": source, "created_at": now, "updated_at": now, "last_seen_at": now, **given}
    return insert_into(connection, projects).values(values)


def _upsert(statement: sqlite.Insert | postgresql.Insert, **kept: ColumnElement[Any]) -> sqlite.Insert | postgresql.Insert:
    """A known project was seen again, and nothing else changes but ``kept``."""
    news = {"last_seen_at": statement.excluded.last_seen_at, "updated_at": statement.excluded.updated_at, **kept}
    return statement.on_conflict_do_update(index_elements=[_P.name], set_=news)


def _check(changes: ProjectChanges) -> None:
    for field in (*changes.values, *(changes.seen or {})):
        if field not in CHANGEABLE:
            raise ValidationFailure.of(field, "unknown", f"is not to be changed; only {', '.join(CHANGEABLE)} are")
    require_text(**changes.values)


def _still_so(found: ProjectRecord, seen: Mapping[str, str | None]) -> None:
    for field, value in seen.items():
        stored = getattr(found, field)
        if stored != value:
            raise Conflict("project", expected=value, actual=stored, message=f"the {field} of the project was changed meanwhile")


async def _one(connection: AsyncConnection, name: str) -> ProjectRecord:
    row = (await connection.execute(queries.PROJECT_BY_NAME.with_for_update(), {"name": name})).first()
    if row is None:
        raise NotFound("project", name)
    return project_record(row)


def _use(row: Sequence[Any]) -> tuple[str, int]:
    return str(row[0]), int(row[1])

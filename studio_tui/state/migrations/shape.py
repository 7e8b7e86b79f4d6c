"""What a store has, as far as a migration must know it: tables, columns, indexes, checks and its own record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Select, exists, inspect, select
from sqlalchemy.engine import Connection

from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, engine_runs, message_types, metadata, schema_meta, sessions
from studio_tui.state.schema.seeds import MIGRATION_MARKERS


@dataclass(frozen=True, slots=True)
class Shape:
    """``tables`` maps each table to its CREATE statement, which PostgreSQL does not keep (empty there).

    ``checks`` are the CHECK texts of ``sessions`` by constraint name, read on PostgreSQL only. ``message_types`` are the type
    ids that are there. ``unlinked`` tells whether an engine run does not name the run that it belongs to.
    """

    dialect: str
    tables: Mapping[str, str]
    columns: Mapping[str, frozenset[str]]
    indexes: frozenset[str]
    meta: Mapping[str, str]
    message_types: frozenset[int] = frozenset()
    unlinked: bool = False
    checks: Mapping[str, str] = field(default_factory=dict)

    def has(self, table: str, *columns: str) -> bool:
        """Whether the table is there with all these columns."""
        return table in self.tables and self.columns[table].issuperset(columns)

    def marked(self, marker: str) -> bool:
        """Whether the store says that this one-time backfill was done."""
        assert marker in MIGRATION_MARKERS
        return marker in self.meta


def read_shape(connection: Connection) -> Shape:
    """Look at an open store; a few statements, none of which reads rows of data."""
    return _read_sqlite(connection) if connection.dialect.name == "sqlite" else _read_server(connection)


def _read_sqlite(connection: Connection) -> Shape:
    objects = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'index')").all()
    tables = {str(name): str(sql or "") for kind, name, sql in objects if kind == "table" and not str(name).startswith("sqlite_")}
    indexes = frozenset(str(name) for kind, name, _ in objects if kind == "index")
    columns: dict[str, set[str]] = {name: set() for name in tables}
    pairs = "SELECT m.name, p.name FROM sqlite_master AS m JOIN pragma_table_xinfo(m.name) AS p WHERE m.type = 'table'"
    for table, column in connection.exec_driver_sql(pairs):
        if table in columns:
            columns[table].add(str(column))
    return _shape(connection, tables, columns, indexes, {})


def _read_server(connection: Connection) -> Shape:
    inspector = inspect(connection)
    ours = [name for name in inspector.get_table_names() if name in metadata.tables]
    found = inspector.get_multi_columns(filter_names=ours)
    columns = {key[1]: {str(column["name"]) for column in items} for key, items in found.items()}
    indexed = inspector.get_multi_indexes(filter_names=ours)
    indexes = frozenset(str(index["name"]) for items in indexed.values() for index in items)
    constraints = inspector.get_check_constraints("sessions") if "sessions" in ours else []
    checks = {str(item["name"]): str(item["sqltext"]) for item in constraints}
    return _shape(connection, dict.fromkeys(ours, ""), columns, indexes, checks)


def _shape(
    connection: Connection,
    tables: Mapping[str, str],
    columns: Mapping[str, set[str]],
    indexes: frozenset[str],
    checks: Mapping[str, str],
) -> Shape:
    sets = {name: frozenset(items) for name, items in columns.items()}
    bare = Shape(connection.dialect.name, tables, sets, indexes, {}, checks=checks)
    types: Iterable[int] = ()
    if bare.has("message_types", "type_id"):
        types = connection.execute(select(message_types.c.type_id)).scalars()
    meta = read_meta(connection) if bare.has("schema_meta", "key", "value") else {}
    unlinked = bare.has("engine_runs", "session_id") and connection.scalar(select(exists(_engine_runs(bare)))) is True
    return replace(bare, meta=meta, message_types=frozenset(types), unlinked=unlinked)


def _engine_runs(shape: Shape) -> Select[Any]:
    """Engine runs that name a session that is there, and not as their parent."""
    found = select(engine_runs.c.id).where(engine_runs.c.session_id.is_not(None))
    if shape.has("sessions", "id"):
        found = found.where(engine_runs.c.session_id.in_(select(sessions.c.id)))
    return found.where(engine_runs.c.parent_session_id.is_(None)) if shape.has("engine_runs", "parent_session_id") else found


def read_meta(connection: Connection) -> dict[str, str]:
    """What the store says of itself."""
    return {str(key): str(value) for key, value in connection.execute(select(schema_meta.c.key, schema_meta.c.value))}


def claim_of(meta: Mapping[str, str]) -> str | None:
    """Why this store may not be upgraded by us at all, in one sentence: it is of another program, or newer."""
    lineage, version = meta.get("lineage", LINEAGE), meta.get("version", "")
    if lineage != LINEAGE:
        return f"This store belongs to another program ({lineage[:40]}) and is left as it is."
    if version.isascii() and version.isdigit() and int(version) > int(SCHEMA_VERSION):
        return f"This store has version {version[:20]}, and this program knows versions up to {SCHEMA_VERSION}."
    return None

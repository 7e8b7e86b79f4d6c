"""The one MetaData, and the way in which its indexes are declared."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, UniqueConstraint, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex

metadata = MetaData()
"""The schema of lionagi 0.36.0 on both databases: 32 tables, 90 indexes (facts of the released package)."""


def index(name: str, *columns: ColumnElement[Any], unique: bool = False, where: str | None = None) -> Index:
    """An index with the peer's name; ``where`` makes it partial, spelled the same on both databases."""
    return Index(name, *columns, unique=unique, sqlite_where=None if where is None else text(where))


@compiles(CreateIndex, "postgresql")
def _partial_on_postgresql(create: CreateIndex, compiler: Any, **options: Any) -> str:
    """The condition is given here and not to every index, where it would load the other dialect at each start on a file."""
    create.element.dialect_options["postgresql"]["where"] = create.element.dialect_options["sqlite"]["where"]
    return str(compiler.visit_create_index(create, **options))


def unique(name: str, *columns: Column[Any]) -> UniqueConstraint:
    """A named UNIQUE over the columns of a finished table, so that it stands after the foreign keys as the peer's does."""
    return UniqueConstraint(*columns, name=name)

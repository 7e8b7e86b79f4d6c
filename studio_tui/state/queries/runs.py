"""Statements about runs.

A page follows an index and stops when it is full: without conditions on status the walk goes along ``updated_at``, for each
status along ``(status, updated_at)``. Conditions without such an index are checked on the way, and SQLite is kept from
collecting and sorting a whole project for one page (``unindexed``). Only where a project or a tag has few runs is it the other
way round: then the walk might visit the whole store to find them, and sorting them is cheap. Tags are old or new together, and
two of them may never meet, so a walk for tags ends early, and what it has not found is sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from sys import float_info
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    union,
    union_all,
)

from studio_tui.application.ports import RunFilter
from studio_tui.state.queries.columns import KEY_ID, KEY_TIME, LIMIT, beyond, labelled, numbered, numbered_values
from studio_tui.state.queries.json_text import broken_mark, is_listed, picked_values
from studio_tui.state.queries.sql_forms import unindexed
from studio_tui.state.queries.text_search import contains, text_count, text_values
from studio_tui.state.rows import run_record
from studio_tui.state.schema import branches, progressions, run_tags, sessions

FEW: Final = 500
"""Fewer runs of a project or tag than this are sorted for a page (2 ms); of more, a walk soon meets enough."""

NEAR: Final = 2500
"""So many runs a walk for tags looks through (1.5 ms)."""

_S = sessions.c
_SEARCHED: Final[tuple[ColumnElement[str], ...]] = (
    _S.name,
    _S.user_label,
    _S.agent_name,
    _S.playbook_name,
    _S.show_play_name,
    _S.id,
)
_PROJECT: Final = bindparam("project", type_=Text)

RUNNING: Final[ColumnElement[bool]] = _S.status == literal_column("'running'")
LISTED: Final[ColumnElement[bool]] = is_listed(_S.node_metadata)

_HAS_MESSAGES: Final = case(
    (
        RUNNING,
        select(literal_column("1"))
        .where(branches.c.session_id == _S.id, progressions.c.id == branches.c.progression_id)
        .where(func.length(progressions.c.collection) > literal_column("2"))
        .limit(literal_column("1"))
        .offset(literal_column("0"))
        .correlate(sessions)
        .exists(),
    )
)
"""Whether any branch has an id in its list; asked for running rows only, whose health depends on it (lionagi 0.36).

The OFFSET keeps PostgreSQL from answering it for all runs at once, by reading both tables whole.
"""

RUN_DOCUMENT_COLUMNS: Final = labelled(run_record, sessions, has_messages=_HAS_MESSAGES, metadata=picked_values(_S.node_metadata))
RUN_COLUMNS: Final = labelled(
    run_record,
    sessions,
    without=("verification", "contract"),
    has_messages=_HAS_MESSAGES,
    metadata=case((RUNNING, picked_values(_S.node_metadata)), else_=broken_mark(_S.node_metadata)),
)
"""For lists: without the two documents of a run, and metadata of running ones only, whose process is looked up."""


@dataclass(frozen=True, slots=True)
class RunShape:
    """What a statement about a :class:`RunFilter` depends on; the values themselves are parameters.

    ``key`` is ``None`` (no key), ``"given"``, or ``"stored"``: the caller could not read the key's time (0), so the one that the
    row of that id holds is taken.
    """

    statuses: int = 0
    no_status: bool = False
    kinds: int = 0
    no_kind: bool = False
    project: bool = False
    no_project: bool = False
    tags: int = 0
    playbooks: int = 0
    texts: int = 0
    key: str | None = None
    backwards: bool = False


def shape_of(where: RunFilter, key: tuple[float, str] | None, *, backwards: bool = False) -> RunShape:
    """The shape of a question."""
    return RunShape(
        statuses=sum(status is not None for status in where.status),
        no_status=None in where.status,
        kinds=sum(kind is not None for kind in where.kinds),
        no_kind=None in where.kinds,
        project=where.project is not None,
        no_project=where.project_is_null,
        tags=len(where.tags),
        playbooks=text_count(where.playbook),
        texts=text_count(where.text),
        key=None if key is None else "given" if key[0] else "stored",
        backwards=backwards,
    )


def run_values(where: RunFilter, key: tuple[float, str] | None, limit: int) -> dict[str, object]:
    """The parameters of a question; those that its shape does not use are left out."""
    values: dict[str, object] = {"limit": limit, **text_values("text", where.text), **text_values("playbook", where.playbook)}
    values |= numbered_values("status", _present(where.status))
    values |= numbered_values("kind", _present(where.kinds))
    values |= numbered_values("tag", where.tags)
    if where.project is not None:
        values["project"] = where.project
    if key is not None:
        values["key_id"] = key[1]
        if key[0]:
            values["key_time"] = key[0]
    return values


@lru_cache(maxsize=512)
def page(shape: RunShape) -> Select[Any]:
    """One page, newest activity first, or oldest first with ``backwards``."""
    if not shape.project and not shape.tags and shape.statuses + shape.no_status <= 1:
        conditions = [*_statuses(shape), *_conditions(shape)]
        return select(*RUN_COLUMNS).where(*conditions).order_by(*_order(shape, _S.updated_at, _S.id)).limit(LIMIT)
    keys = (_tagged(shape) if shape.tags else union_all(*(select(arm.subquery()) for arm in _arms(shape)))).subquery()
    return (
        select(*RUN_COLUMNS)
        .join_from(keys, sessions, _S.id == keys.c.id)
        .order_by(*_order(shape, keys.c.updated_at, keys.c.id))
        .limit(LIMIT)
    )


@lru_cache(maxsize=512)
def newer(shape: RunShape) -> Select[Any]:
    """How many runs stand before the key, counted up to ``:limit``."""
    status = _only_status(shape)
    sources = _source_conditions(shape, _unindexed_status(shape) if status is None else status)
    conditions = [*sources, *_conditions(shape, newer_than_key=True)]
    return select(func.count()).select_from(select(literal_column("1")).where(*conditions).limit(LIMIT).subquery())


def _arms(shape: RunShape) -> list[Select[Any]]:
    """Keys of the page from every place where they may stand. At most one of the two ways to a project yields rows."""
    walks: list[ColumnElement[bool] | None] = [*_statuses(shape)] or [None]
    if not shape.project:
        return [_arm(shape, [status], LIMIT) for status in walks]
    few = _few(shape)
    sort = _arm(shape, _source_conditions(shape, _unindexed_status(shape), few=True), case((few, LIMIT), else_=0), sort=True)
    walk_limit = case((few, 0), else_=LIMIT)
    return [sort, *(_arm(shape, _source_conditions(shape, status), walk_limit) for status in walks)]


def _tagged(shape: RunShape) -> CompoundSelect[Any]:
    """Keys of runs with tags: from a walk through the next :data:`NEAR` runs, or, where that yields no page, of all of them."""
    status = _unindexed_status(shape)
    walk_limit = case((_few(shape), 0), else_=LIMIT)
    near = _arm(shape, [*_near(shape), *_source_conditions(shape, status)], walk_limit).cte("near")
    found = select(func.count()).select_from(near).scalar_subquery()
    rest_limit = case((found < LIMIT, LIMIT), else_=0)
    rest = _arm(shape, _source_conditions(shape, status, few=True), rest_limit, sort=True)
    return union(select(near), select(rest.subquery()))


def _near(shape: RunShape) -> list[ColumnElement[bool]]:
    """What the next :data:`NEAR` runs are found by: those of the only status asked for, else any."""
    status = _only_status(shape)
    walked = [] if status is None else [status]
    conditions = [*walked, *_beyond(shape, _S.updated_at)]
    order = _S.updated_at.asc() if shape.backwards else _S.updated_at.desc()
    after_these = select(_S.updated_at).where(*conditions).order_by(order).offset(NEAR).limit(1).correlate(None)
    end = func.coalesce(after_these.scalar_subquery(), float_info.max if shape.backwards else -float_info.max)
    return [*walked, _S.updated_at <= end if shape.backwards else _S.updated_at >= end]


def _arm(
    shape: RunShape, sources: Iterable[ColumnElement[bool] | None], limit: ColumnElement[int], *, sort: bool = False
) -> Select[Any]:
    time = unindexed(_S.updated_at) if sort else _S.updated_at
    conditions = [*(source for source in sources if source is not None), *_conditions(shape, time)]
    return select(_S.id, _S.updated_at).where(*conditions).order_by(*_order(shape, time, _S.id)).limit(limit)


def _few(shape: RunShape) -> ColumnElement[bool]:
    """Whether what the page is looked up by has few runs: counted in its index, and not beyond that number."""
    found = _tagged_ids(shape) if shape.tags else select(literal_column("1")).where(_S.project == _PROJECT)
    return select(func.count()).select_from(found.limit(FEW).subquery()).scalar_subquery() < FEW


def _tagged_ids(shape: RunShape) -> Select[Any]:
    """Ids of the runs with all the tags, from the tags alone."""
    first, *others = numbered("tag", shape.tags)
    ids = select(run_tags.c.session_id).where(run_tags.c.tag == first)
    for number, tag in enumerate(others):
        other = run_tags.alias(f"other_tag_{number}")
        ids = ids.join(other, and_(other.c.session_id == run_tags.c.session_id, other.c.tag == tag))
    return ids


def _source_conditions(shape: RunShape, status: ColumnElement[bool] | None, *, few: bool = False) -> list[ColumnElement[bool]]:
    """Conditions on status, project and tags: what may be looked up in an index of its own."""
    conditions = [] if status is None else [status]
    if shape.project:
        by_index = few and not shape.tags
        conditions.append((_S.project if by_index else unindexed(_S.project)) == _PROJECT)
    if shape.tags:
        conditions.append((_S.id if few else unindexed(_S.id)).in_(_tagged_ids(shape)))
    return conditions


def _conditions(
    shape: RunShape, time: ColumnElement[Any] = _S.updated_at, *, newer_than_key: bool = False
) -> list[ColumnElement[bool]]:
    """Conditions that are checked on each row that the walk meets, the dearest (it reads a long text) last."""
    conditions: list[ColumnElement[bool]] = []
    if shape.kinds or shape.no_kind:
        conditions.append(_among(_S.invocation_kind, "kind", shape.kinds, missing=shape.no_kind))
    if shape.no_project:
        conditions.append(_S.project.is_(None))
    if shape.playbooks:
        conditions.append(contains((_S.playbook_name,), "playbook", shape.playbooks))
    if shape.texts:
        conditions.append(contains(_SEARCHED, "text", shape.texts))
    conditions += _beyond(shape, time, newer_than_key=newer_than_key)
    return [*conditions, LISTED]


def _beyond(shape: RunShape, time: ColumnElement[Any], *, newer_than_key: bool = False) -> list[ColumnElement[bool]]:
    """Where the page begins, when there is a key."""
    if shape.key is None:
        return []
    at = KEY_TIME if shape.key == "given" else _stored_time()
    return [beyond(time, _S.id, at, newer=shape.backwards or newer_than_key)]


def _stored_time() -> ColumnElement[Any]:
    row = sessions.alias("key_row")
    return select(row.c.updated_at).where(row.c.id == KEY_ID).scalar_subquery()


def _statuses(shape: RunShape) -> Iterable[ColumnElement[bool]]:
    yield from (_S.status == status for status in numbered("status", shape.statuses))
    if shape.no_status:
        yield _S.status.is_(None)


def _only_status(shape: RunShape) -> ColumnElement[bool] | None:
    """The condition on status where one walk along an index finds it: not where there are several."""
    return next(iter(_statuses(shape))) if shape.statuses + shape.no_status == 1 else None


def _unindexed_status(shape: RunShape) -> ColumnElement[bool] | None:
    if not shape.statuses and not shape.no_status:
        return None
    return _among(unindexed(_S.status), "status", shape.statuses, missing=shape.no_status)


def _among(column: ColumnElement[Any], name: str, count: int, *, missing: bool) -> ColumnElement[bool]:
    options: list[ColumnElement[bool]] = [column == value for value in numbered(name, count)]
    return or_(*options, column.is_(None)) if missing else or_(*options)


def _order(shape: RunShape, time: ColumnElement[Any], identifier: ColumnElement[Any]) -> tuple[ColumnElement[Any], ...]:
    if shape.backwards:
        return time.asc(), identifier.asc()
    return time.desc(), identifier.desc()


def _present(values: Iterable[str | None]) -> list[str]:
    return sorted(value for value in values if value is not None)

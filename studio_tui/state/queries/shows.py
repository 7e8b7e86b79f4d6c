"""Statements about shows and their plays."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, select

from studio_tui.state.queries.columns import labelled
from studio_tui.state.rows import play_record, show_record
from studio_tui.state.schema import plays, shows

_TOPIC: Final = bindparam("topic", type_=Text)
_PLAY_COLUMNS: Final = (plays.c.show_id, *labelled(play_record, plays, without=("attention_opt_in",)))
_PLAY_ORDER: Final = (plays.c.show_id, plays.c.sort_order, plays.c.name)

SHOWS: Final[Select[Any]] = select(*labelled(show_record, shows)).order_by(shows.c.updated_at.desc(), shows.c.topic)
SHOW_BY_TOPIC: Final[Select[Any]] = select(*labelled(show_record, shows)).where(shows.c.topic == _TOPIC)
PLAYS: Final[Select[Any]] = select(*_PLAY_COLUMNS).order_by(*_PLAY_ORDER)
PLAYS_OF_SHOW: Final[Select[Any]] = (
    select(*_PLAY_COLUMNS)
    .where(plays.c.show_id == select(shows.c.id).where(shows.c.topic == _TOPIC).scalar_subquery())
    .order_by(*_PLAY_ORDER)
)

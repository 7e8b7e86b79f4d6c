"""Plain sqlite3 with one open read connection, asked the questions of the lists with statements that follow an index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RUN_COLUMNS = (
    "s.id,s.run_id,s.name,s.user_label,s.created_at,s.updated_at,s.playbook_name,s.agent_name,s.invocation_kind,s.show_topic,"
    "s.show_play_name,s.artifacts_path,s.source_kind,s.status,s.started_at,s.ended_at,s.ended_at_is_approximate,"
    "s.last_message_at,s.invocation_id,s.model,s.provider,s.effort,s.project,s.status_reason_code,s.status_reason_summary,"
    "s.total_cost_usd,s.input_tokens,s.output_tokens,(SELECT COUNT(*) FROM branches b WHERE b.session_id=s.id)"
)
VISIBLE = "json_extract(s.node_metadata,'$.engine_parent_run_id') IS NULL"
SEARCHED = ("name", "user_label", "agent_name", "playbook_name", "show_play_name", "id")
TAGGED = "EXISTS (SELECT 1 FROM run_tags t WHERE t.session_id=s.id AND +t.tag=?)"
BOTH_TAGS = "s.id IN (SELECT a.session_id FROM run_tags a JOIN run_tags b ON b.session_id=a.session_id WHERE a.tag=? AND b.tag=?)"
OUTCOMES = (
    "SELECT group_concat(status) FROM (SELECT status FROM schedule_runs WHERE schedule_id=? AND chain_depth=0"
    " ORDER BY fired_at DESC, id DESC LIMIT 10)"
)
INVOCATIONS = (
    "SELECT i.*, (SELECT r.project FROM sessions r WHERE r.invocation_id=i.id ORDER BY r.updated_at DESC LIMIT 1),"
    " (SELECT count(*) FROM sessions c WHERE c.invocation_id=i.id),"
    " (SELECT f.id FROM schedule_runs f WHERE f.invocation_id=i.id LIMIT 1)"
    " FROM invocations i ORDER BY i.updated_at DESC, i.id DESC LIMIT ?"
)
LATEST = (
    "SELECT d.kind, d.name, d.content FROM definitions d JOIN (SELECT kind, name, max(version) v FROM definitions"
    " GROUP BY kind, name) n ON d.kind=n.kind AND d.name=n.name AND d.version=n.v"
)
ACTIVITY = (
    "SELECT CAST(coalesce(ended_at, started_at, created_at) / 3600 AS INTEGER), status, count(*) FROM sessions"
    " WHERE updated_at>=? AND coalesce(ended_at, started_at, created_at)>=? GROUP BY 1, 2"
)

Ids = Callable[[], list[str]]


class Raw:
    """What a single connection yields, rows read to their end."""

    def __init__(self, store: Path) -> None:
        self._connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, isolation_level=None)
        self._connection.execute("PRAGMA cache_size=-64000")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def one(self, sql: str, *values: object) -> Any:
        """The first row of a question about the home."""
        return self._connection.execute(sql, values).fetchone()

    def all(self, sql: str, *values: object) -> list[Any]:
        """The rows of a statement."""
        return self._connection.execute(sql, values).fetchall()

    def page(self, where: str, *values: object, backwards: bool = False) -> Ids:
        """The ids of a page of 20 whose rows were read, newest first."""
        order = "s.updated_at, s.id" if backwards else "s.updated_at DESC, s.id DESC"
        sql = f"SELECT {RUN_COLUMNS} FROM sessions s WHERE {where} AND {VISIBLE} ORDER BY {order} LIMIT 20"
        return lambda: [row[0] for row in self.all(sql, *values)][:: -1 if backwards else 1]

    def search(self, text: str) -> Ids:
        """A page of runs in which the text occurs."""
        return self.page(f"({' OR '.join(f's.{name} LIKE ?' for name in SEARCHED)})", *[f"%{text}%"] * len(SEARCHED))

    def count(self, sql: str, *values: object) -> Ids:
        """A number, as the only answer."""
        return lambda: [str(self.one(sql, *values)[0])]

    def ids(self, sql: str, *values: object) -> Ids:
        """The first column of the rows."""
        return lambda: [row[0] for row in self.all(sql, *values)]

    def schedules(self, where: str = "1") -> Ids:
        """The first fifty schedules and the last ten outcomes of each, newest first."""

        def ask() -> list[str]:
            rows = self.all(f"SELECT id, * FROM schedules WHERE {where} ORDER BY name, id LIMIT 50")
            return [f"{row[0]} {self.one(OUTCOMES, row[0])[0] or ''}" for row in rows]

        return ask

    def transcript(self, run_id: str, limit: int, *, skipped: int = 0) -> Ids:
        """Messages that end so many ids before a transcript's end: their ids by incremental read, their rows, decoded."""

        def ask() -> list[str]:
            sql = "SELECT p.rowid FROM branches b JOIN progressions p ON p.id=b.progression_id WHERE b.session_id=?"
            (place,) = self.one(sql, run_id)
            with self._connection.blobopen("progressions", "collection", place, readonly=True) as blob:
                blob.seek(max(0, len(blob) - 41 * (limit + skipped)))
                ids = blob.read().decode().split('"')[-2::-2][skipped : skipped + limit][::-1]
            return self._found(ids)

        return ask

    def _found(self, ids: Sequence[str]) -> list[str]:
        sql = f"SELECT id,created_at,sender,role,content,lion_class FROM messages WHERE id IN ({','.join('?' * len(ids))})"
        found = {row[0]: json.loads(row[4]) for row in self._connection.execute(sql, ids).fetchall()}
        return [name for name in ids if name in found]

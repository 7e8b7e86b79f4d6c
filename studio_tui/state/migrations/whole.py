"""Plan and migration of the one open store, and the words about it for a store that is opened."""

from __future__ import annotations

from studio_tui.application.errors import Conflict, PermissionDenied
from studio_tui.application.models.state import MigrationPlan, MigrationReport, ProgressListener
from studio_tui.state.db import StateDB
from studio_tui.state.engine import BUSY_TIMEOUT_MS
from studio_tui.state.migrations.plan import is_older, plan_of, steps_of
from studio_tui.state.migrations.shape import read_shape
from studio_tui.state.migrations.upgrade import Upgrade


async def plan_store(db: StateDB) -> MigrationPlan:
    """The plan for the open store. Raises :class:`StateUnavailable` when it cannot be read."""
    async with db.read() as connection:
        return await connection.run_sync(lambda inner: plan_of(inner, db.label, db.path))


async def migrate_store(
    db: StateDB, listen: ProgressListener | None, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS
) -> MigrationReport:
    """Migrate the open store and leave its connections for the caller to open anew. Errors are those of ``StorePort.migrate``."""
    plan = await plan_store(db)
    if plan.obstacles and not plan.changes:
        raise PermissionDenied(plan.obstacles[0])
    if plan.obstacles:
        raise Conflict("store", expected=None, actual=None, message=" ".join(("Nothing was changed.", *plan.obstacles)))
    if not plan.changes:
        return MigrationReport(label=db.label)
    upgrade = Upgrade(db.url, db.path, label=db.label, busy_timeout_ms=busy_timeout_ms, listen=listen)
    async with upgrade:
        if db.path is not None and db.refusal is not None:
            # readers of a store that is only looked at believe that nobody writes it: from here on they must see the log
            await db.attach(writable=False)
        report = await upgrade.run()
    counted = {(change.kind, change.table, change.name): change for change in plan.changes}
    changes = tuple(counted.get((change.kind, change.table, change.name), change) for change in report.changes)
    return report.model_copy(update={"changes": changes})


async def invitation(db: StateDB) -> str | None:
    """How to upgrade the open store, in one sentence; ``None`` for one that needs no upgrade."""
    async with db.read() as connection:
        shape = await connection.run_sync(read_shape)
    if not is_older(shape):
        return None
    number = sum(len(step.changes) for step in steps_of(shape))
    return f"It is an older store: `studio-tui state migrate` upgrades it ({number} change{'s' if number > 1 else ''})."

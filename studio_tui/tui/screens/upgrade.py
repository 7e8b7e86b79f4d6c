"""Bringing an older store up to date: what that changes, and how far it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.worker import Worker

from studio_tui.application.models.state import MigrationPlan, MigrationProgress, MigrationReport
from studio_tui.tui import failures
from studio_tui.tui.screens.dialogs import Dialog
from studio_tui.tui.widgets.choices import Answer, Choices
from studio_tui.tui.widgets.panes import LinesPane

if TYPE_CHECKING:
    from studio_tui.tui.screens.base import StudioScreen

_MILLION = 1_000_000


def ask_to_upgrade(screen: StudioScreen) -> None:
    """Find out what an upgrade would change, and ask whether to do it."""

    def planned(plan: MigrationPlan) -> None:
        if not plan.changes and not plan.obstacles:
            screen.studio_app.toast("nothing to upgrade: the store is as lionagi 0.36 makes it")
        else:
            screen.app.push_screen(UpgradeDialog(screen, plan))

    screen.act(screen.studio.store.plan, planned)


class UpgradeDialog(Dialog[None]):
    """The plan, then the steps as they are done. Escape before that closes it, and afterwards stops after the present step."""

    def __init__(self, screen: StudioScreen, plan: MigrationPlan) -> None:
        super().__init__(f"Upgrade {plan.label}?", _words(plan))
        self._screen, self._plan = screen, plan
        self._work: Worker[Any] | None = None

    def question(self) -> ComposeResult:
        """No and yes, and later how far it is."""
        yield LinesPane(id="progress", classes="dialog-foot", on="raised")
        yes = [] if self._plan.obstacles else [Answer("yes", "upgrade")]
        yield Choices([Answer("no", "close" if self._plan.obstacles else "cancel"), *yes])

    @on(Choices.Chosen)
    def _chosen(self, event: Choices.Chosen) -> None:
        if event.name != "yes":
            self.action_cancel()
        elif self._work is None:
            self.query_one(Choices).display = False
            self._work = self.run_worker(self._upgrade(), group="upgrade", exit_on_error=False)

    def action_cancel(self) -> None:
        """No; or no further."""
        if self._work is None:
            self.dismiss(None)
        else:
            self._say("stopping after this step")
            self._work.cancel()

    async def _upgrade(self) -> None:
        app = self._screen.studio_app
        try:
            report = await self._screen.studio.store.migrate(self._show)
        except asyncio.CancelledError:
            app.toast("stopped: what is done stays, and another upgrade does the rest", severity="warning")
            raise
        except Exception as error:
            app.toast(failures.explain(error).sentence, severity="error")
        else:
            app.toast(_done(report))
        finally:
            if self.is_current:
                self.dismiss(None)

    def _show(self, progress: MigrationProgress) -> None:
        part = f"  {progress.part_done / progress.part_total:.0%}" if progress.part_total else ""
        self._say(f"{progress.done}/{progress.total}  {progress.step}{part}")

    def _say(self, text: str) -> None:
        self.query_one("#progress", LinesPane).show(self.broken(text, "ink"))


def _words(plan: MigrationPlan) -> list[str]:
    """What would be changed, or what stands in the way."""
    if plan.obstacles:
        return [f"In the way: {obstacle}" for obstacle in plan.obstacles]
    number, tables = len(plan.changes), ", ".join(sorted({change.table for change in plan.changes}))
    words = [f"{number} change{'' if number == 1 else 's'}: {tables}."]
    if plan.backups:
        size = plan.backup_bytes / _MILLION
        words.append(f"Before a table is made anew the store is copied beside itself: {size:.1f} MB in all.")
    return words


def _done(report: MigrationReport) -> str:
    backups = f"; backups: {', '.join(report.backups)}" if report.backups else ""
    return f"upgraded: {report.label}{backups}"

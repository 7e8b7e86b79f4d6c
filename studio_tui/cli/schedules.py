"""``studio-tui schedules``: list, show, history, enable, disable; the other verbs have modules of their own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.zone_words import zone_origin
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.lazy import LazyGroup
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document, print_page
from studio_tui.cli.trouble import warn
from studio_tui.cli.words import ago, count, due, moment, money, span

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.schedules import Firing, ScheduleDetail, ScheduleResult, ScheduleSummary
    from studio_tui.application.studio import Studio

VERBS: Final = {
    "list": ("studio_tui.cli.schedules:list_schedules", "List schedules by name."),
    "show": ("studio_tui.cli.schedules:show", "Show one schedule and its coming fires."),
    "create": ("studio_tui.cli.schedule_create:create", "Make a schedule."),
    "update": ("studio_tui.cli.schedule_update:update", "Change the fields of a schedule that are named."),
    "delete": ("studio_tui.cli.schedule_delete:delete", "Delete a schedule and its firings; asks first."),
    "enable": ("studio_tui.cli.schedules:enable", "Turn a schedule on; its next fire is computed from now."),
    "disable": ("studio_tui.cli.schedules:disable", "Turn a schedule off."),
    "fire": ("studio_tui.cli.fire:fire", "Run a schedule's action once, now, and wait for its end."),
    "why": ("studio_tui.cli.schedule_why:why", "Say why a schedule fires or does not: every gate with its evidence."),
    "next": ("studio_tui.cli.schedule_why:following", "List the coming fires, with what daylight saving does to them."),
    "history": ("studio_tui.cli.schedules:history", "List what a schedule fired and skipped, newest first."),
    "validate": ("studio_tui.cli.schedule_sets:validate", "Check a file of declared schedules."),
    "apply": ("studio_tui.cli.schedule_sets:apply", "Make the store say what a file declares, all of it or nothing."),
    "export": ("studio_tui.cli.schedule_sets:export", "Spell schedules as files that can be applied again."),
}
_COLUMNS: Final = (
    Column("STATE"),
    Column("NAME", gives=5),
    Column("TRIGGER", gives=4),
    Column("ACTION", gives=2),
    Column("NEXT", right=True),
    Column("LAST", right=True),
    Column("OUTCOMES", gives=1),
    Column("NOTE", gives=3),
)
_FIRINGS: Final = (
    Column("STATE"),
    Column("FIRED"),
    Column("TOOK", right=True),
    Column("EXIT", right=True),
    Column("FIRING"),
    Column("WHY", gives=1),
)


@click.group(cls=LazyGroup, verbs=VERBS)
def schedules() -> None:
    """List, make, change, explain, switch, fire and delete schedules."""


@click.command("list")
@click.option("--enabled/--disabled", default=None, help="Only those that are on, or off.")
@click.option("--text", metavar="TEXT", help="Part of the name.")
@click.option("--limit", type=click.IntRange(1, 1000), default=200, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Where the page before ended (next_cursor).")
@json_option
@click.pass_obj
def list_schedules(flags: dict[str, object], /, as_json: bool, **conditions: Any) -> None:
    """List schedules by name."""
    page = perform(flags, lambda studio: _page(studio, conditions))
    if as_json:
        print_page(page)
        return
    now = time.time()
    print_table(_COLUMNS, (_row(schedule, now) for schedule in page.items), empty="no schedules")
    if page.has_next:
        print(f"more follow: --cursor {page.next_cursor}")


async def _page(studio: Studio, conditions: dict[str, Any]) -> Page[ScheduleSummary]:
    from studio_tui.application.models.schedules import ScheduleQuery

    return await studio.schedules.list_schedules(ScheduleQuery(**conditions))


def _row(schedule: ScheduleSummary, now: float) -> tuple[str, ...]:
    note = "; ".join(filter(None, (*schedule.problems, schedule.blocked, schedule.description)))
    return (
        schedule.state.value,
        schedule.name,
        " ".join(filter(None, (schedule.trigger, schedule.zone))),
        schedule.action,
        due(schedule.next_fire_at, now) if schedule.enabled else "-",
        ago(schedule.last_fired_at, now) or "-",
        " ".join(state.value for state in schedule.outcomes[-5:]),
        note,
    )


@click.command("show")
@click.argument("schedule", metavar="SCHEDULE")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, schedule: str, as_json: bool) -> None:
    """Show one schedule, named by its name, its id, or the beginning of one."""
    found = perform(flags, lambda studio: _schedule(studio, schedule))
    if as_json:
        print_document(found)
        return
    print_facts(_facts(found))
    if found.next_fires:
        print("\ncoming fires")
        rows = ((fire.local, fire.note or "") for fire in found.next_fires)
        print_table((Column("AT"), Column("NOTE", gives=1)), rows, empty="")


async def _schedule(studio: Studio, text: str) -> ScheduleDetail:
    return await studio.schedules.get_schedule(await studio.schedules.resolve_schedule(text))


def _facts(schedule: ScheduleDetail) -> list[tuple[str, str | None]]:
    runs = f"{schedule.executed_runs}" + (f" of {schedule.max_runs}" if schedule.max_runs else "")
    zone = f"{schedule.zone} ({zone_origin(schedule.zone_source)})" if schedule.zone else None
    failures = f", {schedule.consecutive_failures} failures in a row" if schedule.consecutive_failures else ""
    return [
        ("schedule", schedule.schedule_id),
        ("name", schedule.name),
        ("state", schedule.state.value),
        ("health", schedule.health.replace("-", " ") + failures),
        ("blocked", schedule.blocked),
        ("problems", "; ".join(schedule.problems)),
        ("description", schedule.description),
        ("trigger", schedule.trigger),
        ("zone", zone),
        ("next fire", moment(schedule.next_fire_at)),
        ("last fire", moment(schedule.last_fired_at)),
        ("outcomes", " ".join(state.value for state in schedule.outcomes)),
        ("running", str(schedule.running) if schedule.running else None),
        ("action", schedule.action),
        ("runs", " ".join(map(_quoted, schedule.command_line))),
        ("directory", schedule.working_directory),
        ("project", schedule.project),
        ("overlap", schedule.overlap_policy),
        ("missed fire", schedule.missed_fire_policy.replace("_", "-")),
        ("executed", runs),
        ("budget", money(schedule.budget_usd) if schedule.budget_usd is not None else None),
        ("token budget", count(schedule.budget_tokens)),
        *_more_limits(schedule),
        *((("then" if not place else ""), step) for place, step in enumerate(schedule.chain)),
        ("managed by", schedule.managed_by),
        ("created", moment(schedule.created_at)),
    ]


def _more_limits(schedule: ScheduleDetail) -> list[tuple[str, str | None]]:
    made = schedule.definition
    if made is None:
        return []
    limit, beyond = made.rate_limit, made.threshold_config
    return [
        ("rate", f"{limit.max_fires} in {span(limit.window_sec)}" if limit else None),
        ("threshold", f"{beyond.metric} {beyond.op} {beyond.value:g} in {beyond.window_minutes}m" if beyond else None),
    ]


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


@click.command("history")
@click.argument("schedule", metavar="SCHEDULE")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Where the page before ended (next_cursor).")
@json_option
@click.pass_obj
def history(flags: dict[str, object], /, schedule: str, as_json: bool, **window: Any) -> None:
    """List what a schedule fired and skipped, newest first."""
    page = perform(flags, lambda studio: _firings(studio, schedule, window))
    if as_json:
        print_page(page)
        return
    print_table(_FIRINGS, map(_firing, page.items), empty="nothing was fired yet")
    if page.has_next:
        print(f"more follow: --cursor {page.next_cursor}")


async def _firings(studio: Studio, text: str, window: dict[str, Any]) -> Page[Firing]:
    from studio_tui.application.models.schedules import FiringQuery

    found = await studio.schedules.resolve_schedule(text)
    return await studio.schedules.list_firings(FiringQuery(schedule_id=found, **window))


def _firing(firing: Firing) -> tuple[str, ...]:
    return (
        firing.state.value,
        moment(firing.fired_at),
        span(firing.duration),
        str(firing.exit_code) if firing.exit_code is not None else "-",
        firing.firing_id,
        firing.reason,
    )


@click.command("enable")
@click.argument("schedule", metavar="SCHEDULE")
@json_option
@click.pass_obj
@as_operator
def enable(flags: dict[str, object], /, schedule: str, as_json: bool) -> None:
    """Turn a schedule on; its next fire is computed from now."""
    _switch(flags, schedule, enabled=True, reason=None, as_json=as_json)


@click.command("disable")
@click.argument("schedule", metavar="SCHEDULE")
@click.option("--reason", metavar="TEXT", help="Why, for the history.")
@json_option
@click.pass_obj
def disable(flags: dict[str, object], /, schedule: str, reason: str | None, as_json: bool) -> None:
    """Turn a schedule off. What runs already runs on."""
    _switch(flags, schedule, enabled=False, reason=reason, as_json=as_json)


def _switch(flags: dict[str, object], text: str, *, enabled: bool, reason: str | None, as_json: bool) -> None:
    async def switch(studio: Studio) -> ScheduleResult:
        from studio_tui.application.models.schedules import SetScheduleEnabled

        found = await studio.schedules.resolve_schedule(text)
        command = made(SetScheduleEnabled, schedule_id=found, enabled=enabled, reason=reason)
        return await studio.schedules.set_enabled(command)

    result = perform(flags, switch)
    if as_json:
        print_document(result)
    else:
        print_result(result)


def print_result(result: ScheduleResult) -> None:
    """Say what a schedule is now."""
    from studio_tui.application.text import clean

    state = "on" if result.enabled else "off"
    following = f", next fire {moment(result.next_fire_at)}" if result.enabled and result.next_fire_at is not None else ""
    print(f"{clean(result.name)} is {state}{following}")
    for sentence in result.warnings:
        warn(sentence)

"""``studio-tui schedules validate|apply|export``: schedules that a file declares."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.cli.layout import Column, print_table
from studio_tui.cli.session import as_operator, json_option, perform, print_document
from studio_tui.cli.trouble import warn
from studio_tui.cli.words import moment

if TYPE_CHECKING:
    from studio_tui.application.models.schedule_sets import ExportedSchedule, SetEntry, SetExport, SetPlan, ValidSet

T = TypeVar("T")

_MARKS: Final = {"create": "+", "adopt": "@", "update": "~", "disable": "-", "unchanged": "=", "refused": "!"}
_DONE: Final = {"create": "created", "adopt": "adopted", "update": "updated", "disable": "turned off", "unchanged": "unchanged"}
_PLAN: Final = (Column(""), Column("SCHEDULE", gives=2), Column("NEXT FIRE"), Column("CHANGES", gives=1))
_MEMBERS: Final = (Column("SCHEDULE", gives=2), Column("TRIGGER", gives=3), Column("NEXT FIRE"), Column("NOTE", gives=1))
_EXPORTED: Final = (Column(""), Column("SCHEDULE", gives=2), Column("NOTE", gives=1))
_LONGEST: Final = 40
"""Characters of a value in the list of changes; ``--json`` has it whole."""

_PARTIAL: Final = 2
"""Not everything could be exported (lionagi 0.36)."""

_file = click.argument("file", metavar="FILE", type=click.Path(dir_okay=False))


@click.command("validate")
@_file
@json_option
@click.pass_obj
def validate(flags: dict[str, object], /, file: str, as_json: bool) -> None:
    """Check a file of declared schedules against every rule. Nothing is written.

    Commands, profiles and directories are looked for on this host and in this environment.
    """
    found = _judged(file, lambda: perform(flags, lambda studio: studio.schedule_sets.validate_set(file)), as_json=as_json)
    if as_json:
        print_document(found)
        return
    print_table(_MEMBERS, _members(found), empty="no schedules are declared")
    print(f"{_clean(found.owner_key)} is valid: {_counted(len(found.members))}")


@click.command("apply")
@_file
@click.option("--adopt", is_flag=True, help="Take over schedules that no set owns and that do the same already.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("--expect", "expected_plan", metavar="PLAN", help="Only if it does what this plan (of --dry-run) said.")
@json_option
@click.pass_obj
@as_operator
def apply(flags: dict[str, object], /, file: str, adopt: bool, dry_run: bool, expected_plan: str | None, as_json: bool) -> None:
    """Make the store say what a file declares, all of it or nothing.

    A schedule of the set that is not in the file any more is turned off, never deleted.
    """
    from studio_tui.application.models.schedule_sets import ApplySet, PlanSet

    def done() -> SetPlan:
        if dry_run:
            return perform(flags, lambda studio: studio.schedule_sets.plan_set(PlanSet(file=file, adopt=adopt)))
        command = ApplySet(file=file, adopt=adopt, expected_plan=expected_plan)
        return perform(flags, lambda studio: studio.schedule_sets.apply_set(command))

    plan = _judged(file, done, as_json=as_json)
    if as_json:
        print_document(plan)
    else:
        _print_plan(plan)
    if any(entry.action == "refused" for entry in plan.entries):
        click.get_current_context().exit(Conflict.exit_code)


@click.command("export")
@click.argument("file", metavar="[FILE]", type=click.Path(dir_okay=False), required=False)
@click.option("--legacy", "plain", is_flag=True, help="Those that neither a set nor a command line made.")
@click.option("--set", "owner_key", metavar="PROJECT/NAME", help="Only the schedules of this set.")
@click.option("--force", "overwrite", is_flag=True, help="Write over files that are there.")
@json_option
@click.pass_obj
def export(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """Spell schedules as sets that can be applied again, on standard output or into FILE.

    Several sets go into files beside each other. It ends with 2 when a schedule could not be exported; the rest is.
    """
    from studio_tui.application.models.schedule_sets import ExportSets

    if query["file"] == "-":
        query["file"] = None
    found = perform(flags, lambda studio: studio.schedule_sets.export_sets(ExportSets(**query)))
    if as_json:
        print_document(found)
    else:
        _print_export(found)
    if not all(schedule.exported for schedule in found.schedules):
        click.get_current_context().exit(_PARTIAL)


def _judged(file: str, work: Callable[[], T], *, as_json: bool) -> T:
    """What ``work`` answers. Faults of the file are listed one a line, unless a program reads them."""
    try:
        return work()
    except ValidationFailure as failure:
        if as_json:
            raise
        for fault in failure.field_errors:
            place = f"{file}:{fault.line}" if fault.line is not None else file
            path = f"{'.'.join(map(str, fault.path))}: " if fault.path else ""
            warn(f"{place}: {path}{fault.message}")
        raise click.exceptions.Exit(failure.exit_code) from None


def _print_plan(plan: SetPlan) -> None:
    print_table(_PLAN, map(_step, plan.entries), empty="no schedules are declared, and the set owns none")
    counts = {action: sum(entry.action == action for entry in plan.entries) for action in _MARKS}
    if plan.applied:
        said = [f"{count} {_DONE[action]}" for action, count in counts.items() if count]
        print(f"applied {_clean(plan.owner_key)}: {', '.join(said) or 'nothing to do'}")
    else:
        said = [f"{count} {action}" for action, count in counts.items() if count]
        print(f"plan {plan.plan_id} of {_clean(plan.owner_key)}: {', '.join(said) or 'nothing to do'}; nothing was written")


def _step(entry: SetEntry) -> tuple[str, ...]:
    changes = (f"{change.field}: {_value(change.stored)} → {_value(change.declared)}" for change in entry.changes)
    taken = f"takes over {entry.adopted_from}" if entry.adopted_from else None
    told = "; ".join(filter(None, (taken, entry.reason, *changes, *entry.warnings)))
    following = moment(entry.next_fire_at) if entry.next_fire_at is not None else "-" if entry.enabled else "off"
    return _MARKS[entry.action], entry.name, following, told


def _members(found: ValidSet) -> list[tuple[str, ...]]:
    return [
        (member.name, member.trigger, moment(member.next_fire_at) if member.enabled else "off", "; ".join(member.warnings))
        for member in found.members
    ]


def _print_export(found: SetExport) -> None:
    written = [document for document in found.documents if document.file is not None]
    for document in written:
        print(f"wrote {_clean(document.file or '')}")
    if not written:
        # As they are: in these texts whatever cannot be seen is spelt, and a change would be another document.
        print("\n---\n".join(document.text.rstrip("\n") for document in found.documents))
    sys.stdout.flush()
    for line in map(_told, found.schedules):
        warn(line)


def _told(schedule: ExportedSchedule) -> str:
    if not schedule.exported:
        return f"left out: {schedule.name}: {schedule.reason}"
    return f"exported: {schedule.name}" + (f" ({'; '.join(schedule.notes)})" if schedule.notes else "")


def _value(value: object) -> str:
    text = "nothing" if value is None or value in ([], {}) else str(value).replace("\n", " ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _counted(number: int) -> str:
    return "1 schedule" if number == 1 else f"{number} schedules"


def _clean(text: str) -> str:
    from studio_tui.application.text import clean

    return clean(text)

"""``studio-tui definitions``: save, versions, rollback, snapshot, reconcile."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column
from studio_tui.cli.lists import show_items
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import moment, size

if TYPE_CHECKING:
    from studio_tui.application.models.definitions import (
        DefinitionVersion,
        ReconcileResult,
        Reconciliation,
        SaveResult,
        SnapshotResult,
    )
    from studio_tui.application.studio import Studio

_VERSIONS: Final = (Column("VERSION", right=True), Column("SAVED"), Column("SIZE", right=True), Column("NOTE", gives=1))
_HALF: Final = (
    Column("RECORD"),
    Column("KIND"),
    Column("NAME", gives=2),
    Column("VERSION", right=True),
    Column("FILE"),
    Column("SINCE"),
    Column("WHY", gives=1),
)
_kind = click.argument("kind", type=click.Choice(("agent", "playbook", "skill")))
_name = click.argument("name")
_seen = click.option("--expect", "expected_version", type=click.IntRange(0), metavar="N", help="The newest version that you saw.")


@click.command("save")
@_kind
@_name
@click.option("--file", "source", type=click.File("rb"), default="-", help="The text; standard input when left out.")
@click.option("--message", metavar="TEXT", help="A note for the version.")
@_seen
@click.option("--expect-sha256", "expected_sha256", metavar="HASH", help="The hash of the file that you saw.")
@json_option
@click.pass_obj
def save(flags: dict[str, object], /, source: Any, as_json: bool, **fields: Any) -> None:
    """Save a definition: a new version first, then the file."""
    data = _text_of(source)
    result = perform(flags, lambda studio: _save(studio, data, fields))
    _print_saved(result, as_json=as_json)


def _text_of(source: Any) -> bytes:
    """The text that was given. A file is never emptied because nobody gave one."""
    from studio_tui.application.errors import FieldFailure, ValidationFailure

    if source.isatty():
        raise click.UsageError("give the text with --file, or on standard input")
    data = bytes(source.read())
    if not data.strip():
        raise ValidationFailure(FieldFailure(("content",), "empty", "the text is empty; nothing was saved"))
    return data


@click.command("versions")
@_kind
@_name
@json_option
@click.pass_obj
def versions(flags: dict[str, object], /, kind: str, name: str, as_json: bool) -> None:
    """List the versions of a definition, the newest first."""
    found = perform(flags, lambda studio: studio.definitions.list_versions(kind, name))
    show_items(found, _VERSIONS, _version, empty="no versions", as_json=as_json)


def _version(one: DefinitionVersion) -> tuple[str, ...]:
    return (str(one.version), moment(one.created_at), size(one.content_length), one.message or "")


@click.command("rollback")
@_kind
@_name
@click.argument("version", type=click.IntRange(1))
@_seen
@json_option
@click.pass_obj
def rollback(flags: dict[str, object], /, as_json: bool, **fields: Any) -> None:
    """Save the text of an older version as a new one."""
    _print_saved(perform(flags, lambda studio: _rollback(studio, fields)), as_json=as_json)


@click.command("snapshot")
@_kind
@_name
@json_option
@click.pass_obj
def snapshot(flags: dict[str, object], /, kind: str, name: str, as_json: bool) -> None:
    """Keep the file as it is as a version, if it differs from the newest one."""
    result = perform(flags, lambda studio: _snapshot(studio, kind, name))
    if as_json:
        print_document(result)
    else:
        print(
            clean(
                f"{name} is kept as version {result.version}" if result.added else f"{name} is version {result.version} already"
            )
        )


@click.command("reconcile")
@click.argument("reconciliation_id", metavar="[RECORD]", required=False)
@click.option("--write-file", "choice", flag_value="write_file", help="Write the version to the file.")
@click.option("--record-file", "choice", flag_value="record_file", help="Keep the file as a newer version.")
@click.option("--leave", "choice", flag_value="leave", help="Leave both as they are, and forget the record.")
@json_option
@click.pass_obj
def reconcile(flags: dict[str, object], /, reconciliation_id: str | None, choice: str | None, as_json: bool) -> None:
    """List saves that are half done; with RECORD and a choice, settle one."""
    if reconciliation_id is None:
        found = perform(flags, lambda studio: studio.definition_saves.list_reconciliations())
        show_items(found, _HALF, _half, empty="nothing is half done", as_json=as_json)
        return
    if choice is None:
        raise click.UsageError("say --write-file, --record-file or --leave")
    result = perform(flags, lambda studio: _reconcile(studio, reconciliation_id, choice))
    if as_json:
        print_document(result)
    else:
        print(clean(f"{result.kind} {result.name} is settled; its newest version is {result.version}"))


def _half(one: Reconciliation) -> tuple[str, ...]:
    return (
        one.reconciliation_id,
        one.kind,
        one.name,
        str(one.version),
        one.file,
        moment(one.begun_at),
        one.reason or "cut short",
    )


def _print_saved(result: SaveResult, *, as_json: bool) -> None:
    if as_json:
        print_document(result)
    else:
        print(clean(f"{result.kind} {result.name} is saved as version {result.version}"))


async def _save(studio: Studio, data: bytes, fields: dict[str, Any]) -> SaveResult:
    from studio_tui.application.models.definitions import SaveDefinition

    content = data.decode("utf-8", sys.getfilesystemencodeerrors())  # what is no text becomes half characters, which are refused
    return await studio.definition_saves.save_definition(made(SaveDefinition, content=content, **fields))


async def _rollback(studio: Studio, fields: dict[str, Any]) -> SaveResult:
    from studio_tui.application.models.definitions import RollbackDefinition

    return await studio.definition_saves.rollback_definition(made(RollbackDefinition, **fields))


async def _snapshot(studio: Studio, kind: str, name: str) -> SnapshotResult:
    from studio_tui.application.models.definitions import SnapshotDefinition

    return await studio.definition_saves.snapshot_definition(made(SnapshotDefinition, kind=kind, name=name))


async def _reconcile(studio: Studio, reconciliation_id: str, choice: str) -> ReconcileResult:
    from studio_tui.application.models.definitions import ReconcileDefinition

    command = made(ReconcileDefinition, reconciliation_id=reconciliation_id, choice=choice)
    return await studio.definition_saves.reconcile(command)


COMMANDS: Final = (save, versions, rollback, snapshot, reconcile)

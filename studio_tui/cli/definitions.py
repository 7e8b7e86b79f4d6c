"""``studio-tui definitions``: list, show, and what changes them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean_block
from studio_tui.cli.definition_saves import COMMANDS
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, made, perform, print_document, print_items
from studio_tui.cli.words import ago, moment, size

if TYPE_CHECKING:
    from studio_tui.application.models.definitions import DefinitionDetail, DefinitionSummary
    from studio_tui.application.studio import Studio

_KINDS: Final = ("agent", "playbook", "skill", "workflow")
_COLUMNS: Final = (
    Column("KIND"),
    Column("NAME", gives=3),
    Column("KEPT IN", gives=1),
    Column("VERSION", right=True),
    Column("DRIFT"),
    Column("AGE", right=True),
    Column("DESCRIPTION", gives=2),
)


@click.group()
def definitions() -> None:
    """List, read and save agents, playbooks and skills; list workflows."""


for _command in COMMANDS:
    definitions.add_command(_command)


@definitions.command("list")
@click.option("--kind", type=click.Choice(_KINDS), help="Only one kind.")
@json_option
@click.pass_obj
def list_definitions(flags: dict[str, object], /, kind: str | None, as_json: bool) -> None:
    """List definitions with how they are kept and whether the file is still its newest version."""
    found = perform(flags, lambda studio: studio.definitions.list_definitions())
    chosen = [definition for definition in found if kind in (None, definition.kind)]
    if as_json:
        print_items(chosen)
        return
    now = time.time()
    print_table(_COLUMNS, (_row(definition, now) for definition in chosen), empty="no definitions")


def _row(definition: DefinitionSummary, now: float) -> tuple[str, ...]:
    return (
        definition.kind,
        definition.name,
        definition.persistence,
        str(definition.version) if definition.version is not None else "-",
        definition.drift.replace("_", " "),
        ago(definition.modified_at, now),
        definition.problem or definition.description or "",
    )


@definitions.command("show")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("name")
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="Print the text of an older version.")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, kind: str, name: str, number: int | None, as_json: bool) -> None:
    """Show one definition: what it is, its versions, its text."""
    if number is not None:
        text = perform(flags, lambda studio: studio.definitions.get_version(kind, name, number))
        _print_version(kind, name, number, text, as_json=as_json)
        return
    found = perform(flags, lambda studio: _definition(studio, kind, name))
    if as_json:
        print_document(found)
        return
    print_facts(_facts(found))
    if found.versions:
        print()
        rows = ((str(v.version), moment(v.created_at), size(v.content_length), v.message or "") for v in found.versions)
        print_table(
            (Column("VERSION", right=True), Column("SAVED"), Column("SIZE", right=True), Column("NOTE", gives=1)), rows, empty=""
        )
    if found.content is not None:
        print("\n" + clean_block(found.content).rstrip())


async def _definition(studio: Studio, kind: str, name: str) -> DefinitionDetail:
    return await studio.definitions.get_definition(kind, name)


def _print_version(kind: str, name: str, number: int, text: str, *, as_json: bool) -> None:
    if as_json:
        from studio_tui.application.models.definitions import DefinitionText

        print_document(made(DefinitionText, kind=kind, name=name, version=number, content=text))
    else:
        print(clean_block(text).rstrip("\n"))


def _facts(definition: DefinitionDetail) -> list[tuple[str, str | None]]:
    history = None if definition.history_available else "could not be read"
    return [
        ("kind", definition.kind),
        ("name", definition.name),
        ("kept in", definition.persistence),
        ("path", definition.path),
        ("description", definition.description),
        ("version", str(definition.version) if definition.version is not None else None),
        ("drift", definition.drift.replace("_", " ")),
        ("history", history),
        ("changed", moment(definition.modified_at)),
        ("size", size(definition.size_bytes)),
        ("problem", definition.problem),
    ]

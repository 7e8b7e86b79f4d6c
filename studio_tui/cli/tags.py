"""``studio-tui tags``: what people write on runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column
from studio_tui.cli.lists import show_items
from studio_tui.cli.session import json_option, made, perform, print_document

if TYPE_CHECKING:
    from studio_tui.application.models.tags import RunLabel, RunTags
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (Column("TAG"), Column("RUNS", right=True))


@click.group()
def tags() -> None:
    """List tags; write tags and labels on runs."""


@tags.command("list")
@json_option
@click.pass_obj
def list_tags(flags: dict[str, object], /, as_json: bool) -> None:
    """List every tag with its number of runs."""
    found = perform(flags, lambda studio: studio.tags.list_tags())
    show_items(found, _COLUMNS, lambda tag: (tag.tag, str(tag.runs)), empty="no tags", as_json=as_json)


@tags.command("of")
@click.argument("run_id", metavar="RUN")
@json_option
@click.pass_obj
def of(flags: dict[str, object], /, run_id: str, as_json: bool) -> None:
    """Say which tags a run has."""
    _show(perform(flags, lambda studio: _tags_of(studio, run_id)), as_json=as_json)


@tags.command("add")
@click.argument("run_id", metavar="RUN")
@click.argument("tag")
@json_option
@click.pass_obj
def add(flags: dict[str, object], /, run_id: str, tag: str, as_json: bool) -> None:
    """Write a tag on a run, named by its id or the beginning of it."""
    _show(perform(flags, lambda studio: _change(studio, run_id, tag, on=True)), as_json=as_json)


@tags.command("remove")
@click.argument("run_id", metavar="RUN")
@click.argument("tag")
@json_option
@click.pass_obj
def remove(flags: dict[str, object], /, run_id: str, tag: str, as_json: bool) -> None:
    """Take a tag off a run."""
    _show(perform(flags, lambda studio: _change(studio, run_id, tag, on=False)), as_json=as_json)


@tags.command("label")
@click.argument("run_id", metavar="RUN")
@click.argument("label", required=False)
@click.option("--was", metavar="TEXT", help="The label that the run has now; without it, it must have none.")
@json_option
@click.pass_obj
def label(flags: dict[str, object], /, run_id: str, label: str | None, was: str | None, as_json: bool) -> None:
    """Label a run; without LABEL its label is taken off."""
    stored = perform(flags, lambda studio: _label(studio, run_id, label, was))
    if as_json:
        print_document(stored)
    else:
        print(clean(f"{stored.run_id} is called {stored.label}" if stored.label else f"{stored.run_id} has no label"))


def _show(found: RunTags, *, as_json: bool) -> None:
    if as_json:
        print_document(found)
    else:
        print(clean(", ".join(found.tags)) or "no tags")


async def _tags_of(studio: Studio, prefix: str) -> RunTags:
    return (await studio.tags.tags_of((await studio.runs.resolve_run_id(prefix),)))[0]


async def _change(studio: Studio, prefix: str, tag: str, *, on: bool) -> RunTags:
    from studio_tui.application.models.tags import TagRun, UntagRun

    run_id = await studio.runs.resolve_run_id(prefix)
    if on:
        return await studio.tags.add_tag(made(TagRun, run_id=run_id, tag=tag))
    return await studio.tags.remove_tag(made(UntagRun, run_id=run_id, tag=tag))


async def _label(studio: Studio, prefix: str, label: str | None, was: str | None) -> RunLabel:
    from studio_tui.application.models.tags import LabelRun

    run_id = await studio.runs.resolve_run_id(prefix)
    return await studio.tags.set_label(made(LabelRun, run_id=run_id, label=label, expected_label=was))

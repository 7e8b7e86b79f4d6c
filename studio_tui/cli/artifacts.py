"""``studio-tui artifacts``: what runs left, and a bounded look into it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean_block
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.trouble import warn
from studio_tui.cli.words import ago, size

if TYPE_CHECKING:
    from studio_tui.application.models.artifacts import ArtifactResult, ArtifactSummary
    from studio_tui.application.models.common import Page
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (
    Column("ARTIFACT"),
    Column("KIND"),
    Column("NAME", gives=2),
    Column("RUN", gives=3),
    Column("FILE", gives=1),
    Column("AGE", right=True),
)


@click.group()
def artifacts() -> None:
    """List what runs left, and look into it."""


@artifacts.command("list")
@click.option("--run", "run_id", metavar="RUN", help="Those of one run.")
@click.option("--invocation", "invocation_id", metavar="ID", help="Those of one invocation.")
@page_options
@click.pass_obj
def list_artifacts(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List artifacts: the newest of all, or those of a run or an invocation, oldest first."""
    page = perform(flags, lambda studio: _page(studio, query))
    now = time.time()
    show_page(page, _COLUMNS, lambda one: _row(one, now), empty="no artifacts", as_json=as_json)


def _row(one: ArtifactSummary, now: float) -> tuple[str, ...]:
    return (one.id, one.kind, one.name, one.run_id or "-", one.display_path or "-", ago(one.updated_at, now))


@artifacts.command("show")
@click.argument("artifact_id", metavar="ARTIFACT")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, artifact_id: str, as_json: bool) -> None:
    """Show one artifact; its file is not touched."""
    found = perform(flags, lambda studio: _resolve(studio, {"artifact_id": artifact_id}))
    if as_json:
        print_document(found)
        return
    facts = [("artifact", found.id), ("kind", found.kind), ("name", found.name), ("file", found.display_path)]
    recorded = [("type", found.media_type), ("sha256", found.sha256)]
    print_facts([*facts, *recorded, *((name, str(value)) for name, value in found.content.items())])


@artifacts.command("preview")
@click.argument("artifact_id", metavar="ARTIFACT")
@click.option("--bytes", "preview_limit_bytes", type=click.IntRange(1, 1_048_576), default=262_144, show_default=True)
@json_option
@click.pass_obj
def preview(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """Print the beginning of an artifact's file, verified where its hash is recorded."""
    found = perform(flags, lambda studio: _resolve(studio, {"include_preview": True, **query}))
    if as_json:
        print_document(found)
        return
    if found.preview is None:
        print("it has no file")
        return
    print(clean_block(found.preview.decode("utf-8", "replace")).rstrip("\n"))
    if found.preview_truncated:
        warn(f"only the first {size(len(found.preview))} are shown")


async def _page(studio: Studio, query: dict[str, Any]) -> Page[ArtifactSummary]:
    from studio_tui.application.models.artifacts import ArtifactListQuery

    if query["run_id"] is not None:
        query["run_id"] = await studio.runs.resolve_run_id(query["run_id"])
    return await studio.artifacts.list_artifacts(made(ArtifactListQuery, **query))


async def _resolve(studio: Studio, query: dict[str, Any]) -> ArtifactResult:
    from studio_tui.application.models.artifacts import ArtifactQuery

    return await studio.artifacts.resolve_artifact(made(ArtifactQuery, **query))

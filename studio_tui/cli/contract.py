"""``studio-tui contract``: what programs may rely on, as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from studio_tui.application.errors import Conflict
from studio_tui.application.text import clean


@click.command("contract")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Write over a contract that this one breaks.")
def contract(folder: Path, replace: bool) -> None:
    """Write JSON schemas of every command, query, result and error, the list of operations, and examples to FOLDER.

    A contract that is there already is replaced by one that only adds to it; otherwise this ends with 4 and says what breaks.
    """
    from studio_tui.application.contract.additive import breaks
    from studio_tui.application.contract.documents import contract as documents
    from studio_tui.cli.printed import printed

    fresh = documents(printed())
    broken = breaks(found, fresh) if (found := read_contract(folder)) and not replace else ()
    if broken:
        message = f"the contract in {folder} would be broken: {'; '.join(broken)}"
        raise Conflict("contract", expected="additions only", actual=f"{len(broken)} breaks", message=clean(message))
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in fresh.items():
        (folder / name).write_text(as_text(document), "utf-8")
    print(clean(f"wrote {len(fresh)} files to {folder}"))


def read_contract(folder: Path) -> dict[str, Any] | None:
    """The contract in a folder, or ``None`` when there is none."""
    files = {path.name: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
    return files or None


def as_text(document: dict[str, Any]) -> str:
    """A document as it is written."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"

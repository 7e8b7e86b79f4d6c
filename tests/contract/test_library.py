"""The library's documentation runs as it stands, and leaves no operation out."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.contract.operations import operations
from studio_tui.library import open_studio
from tests.contract.test_printed import fill, filled_home

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_every_operation_is_shown_in_under_ten_lines() -> None:
    shown = set(re.findall(r"studio\.(\w+\.\w+)\(", PAGE))
    assert {operation.name for operation in operations()} <= shown
    assert max(len(block.strip().splitlines()) for block in blocks(PAGE) + blocks(README)) < 10


def test_the_readme_shows_the_same_way_in() -> None:
    assert blocks(PAGE)[0] in blocks(README)


async def test_every_block_runs(peer_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    filled_home(peer_home, monkeypatch)
    await fill(peer_home)
    first, *others = blocks(PAGE)
    names: dict[str, Any] = {}
    await run(first.replace("~/.lionagi", str(peer_home)), names)
    assert len(capsys.readouterr().out.splitlines()) == 5
    async with open_studio(peer_home) as studio:
        names["studio"] = studio
        for block in others:
            await run(block, names)
            if (fired := names.pop("fired", None)) is not None:
                await _ended(studio, fired.firing_id)
    assert names["artifact"].include_preview
    assert "b'# fine'" in capsys.readouterr().out


async def _ended(studio: Any, firing_id: str) -> None:
    """A schedule whose firing runs is not deleted."""
    while (await studio.schedules.get_firing(firing_id)).status == "running":  # noqa: ASYNC110 - another process ends
        await asyncio.sleep(0.02)


async def run(block: str, names: dict[str, Any]) -> None:
    """Run a block as a shell with ``await`` does."""
    code = compile(block, "library.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.isawaitable(result):
        await result


def test_a_name_that_is_none_is_said_so() -> None:
    import studio_tui.library as library

    with pytest.raises(AttributeError, match="has no Nonsense"):
        library.Nonsense  # noqa: B018

"""The coupling figure of ADR-0078: how many of the possible dependencies between components there are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import studio_tui

ROOT = Path(studio_tui.__file__).parent
COMPONENTS = ("tui", "cli", "application", "domain", "state", "files", "processes", "scheduler", "sidecar")
LIMIT = 0.25
"""Stricter than the 0.3 of the ADR."""


def _imported(module: Path) -> Iterator[str]:
    """Dotted names that a module imports, wherever in it and for whatever purpose; relative ones are made absolute."""
    package = ("studio_tui", *module.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(module.read_text("utf-8"), str(module))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join((*package[: len(package) - node.level + 1], *([node.module] if node.module else [])))
            origin = base if node.level else node.module or ""
            yield from (f"{origin}.{name.name}" for name in node.names)


def _dependencies() -> set[tuple[str, str]]:
    found = set()
    for component in COMPONENTS:
        for module in (ROOT / component).rglob("*.py"):
            for name in _imported(module):
                parts = name.split(".")
                if parts[0] == "studio_tui" and len(parts) > 1 and parts[1] in COMPONENTS and parts[1] != component:
                    found.add((component, parts[1]))
    return found


def test_the_components_are_all_there() -> None:
    for component in COMPONENTS:
        assert list((ROOT / component).rglob("*.py")), component


def test_the_figure_sees_every_way_to_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    module = tmp_path / "tui" / "screens" / "runs.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import studio_tui.state.db\n"
        "from studio_tui import files\n"
        "from ...domain import runs\n"
        "def late():\n    from studio_tui.sidecar.store import Sidecar\n"
    )
    assert list(_imported(module)) == [
        "studio_tui.state.db",
        "studio_tui.files",
        "studio_tui.domain.runs",
        "studio_tui.sidecar.store.Sidecar",
    ]
    assert {depends_on for _, depends_on in _dependencies()} == {"state", "files", "domain", "sidecar"}


def test_the_coupling_stays_low(capsys: pytest.CaptureFixture[str]) -> None:
    dependencies = _dependencies()
    possible = len(COMPONENTS) * (len(COMPONENTS) - 1)
    kappa = len(dependencies) / possible
    with capsys.disabled():
        print(f"\ncoupling κ = {len(dependencies)}/{possible} = {kappa:.3f} (limit {LIMIT})")
    edges = ", ".join(f"{component} → {depends_on}" for component, depends_on in sorted(dependencies))
    assert kappa <= LIMIT, edges


def test_nothing_but_the_front_ends_is_known_to_nobody() -> None:
    """Dependencies point inwards: nobody imports a front end, and the domain imports nobody."""
    dependencies = _dependencies()
    assert not [edge for edge in dependencies if edge[1] in ("tui", "cli")]
    assert not [edge for edge in dependencies if edge[0] == "domain"]
    assert {edge[1] for edge in dependencies if edge[0] == "application"} <= {"domain", "scheduler"}

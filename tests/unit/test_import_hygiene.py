"""What an import drags in, seen from outside: each case is a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"textual", "sqlalchemy", "pydantic"}


def _modules_after(statement: str) -> set[str]:
    """Names of all modules that a fresh interpreter has after one statement and had not before."""
    script = f"import sys, json; before = set(sys.modules); {statement}; print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def _packages_of(*arguments: str, expected: int = 0) -> tuple[set[str], str]:
    """Top-level packages that ``studio-tui`` imports for these arguments, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "studio_tui", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == expected, done.stderr[-2_000:]
    imported = [line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {name.partition(".")[0] for name in imported}, done.stdout


def test_the_package_itself_loads_nothing_else_of_ours() -> None:
    modules = _modules_after("import studio_tui")
    assert {name for name in modules if name.startswith("studio_tui")} == {"studio_tui"}
    assert not {name.partition(".")[0] for name in modules} & HEAVY


@pytest.mark.parametrize(
    "module", ["runs", "schedules", "shows", "definitions", "hosting", "overview", "doctor", "studio", "contract.operations"]
)
def test_an_operation_needs_no_database_and_no_screen(module: str) -> None:
    modules = _modules_after(f"import studio_tui.application.{module}")
    packages = {name.partition(".")[0] for name in modules}
    assert not packages & {"textual", "sqlalchemy", "aiosqlite", "psutil", "watchfiles", "click"}
    ours = {name.split(".")[1] for name in modules if name.startswith("studio_tui.")}
    assert ours <= {"application", "domain", "scheduler"}
    assert {name for name in modules if name.startswith("studio_tui.scheduler")} <= {
        "studio_tui.scheduler",
        "studio_tui.scheduler.contract",
    }


def test_the_screen_is_up_before_models_and_store_are_imported() -> None:
    packages = {name.partition(".")[0] for name in _modules_after("import studio_tui.tui.app")}
    assert "textual" in packages
    assert not packages & {"pydantic", "pydantic_core", "sqlalchemy", "aiosqlite"}


def test_the_store_does_without_an_orm() -> None:
    modules = _modules_after("import studio_tui.assembly, studio_tui.state.store, studio_tui.state.stores.runs")
    assert "sqlalchemy.engine" in modules
    assert not [name for name in modules if name.startswith(("sqlalchemy.orm", "sqlalchemy.ext.asyncio"))]


def test_the_scheduler_loads_no_network_before_its_first_poll() -> None:
    packages = {name.partition(".")[0] for name in _modules_after("import studio_tui.scheduler.host")}
    assert "studio_tui" in packages
    assert not packages & {"httpx", "httpcore", "h11", "anyio"}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_plain_question_loads_nothing_heavy(argument: str) -> None:
    packages, printed = _packages_of(argument)
    assert "studio_tui" in packages
    assert not packages & HEAVY
    assert printed


def test_a_list_for_machines_loads_no_screen(tmp_path: Path) -> None:
    packages, printed = _packages_of("--home", str(tmp_path), "runs", "list", "--json")
    assert json.loads(printed) == {"items": [], "has_next": False}
    assert "textual" not in packages
    assert not list(tmp_path.iterdir()), "looking made something"


def test_a_list_loads_no_operation_but_its_own(tmp_path: Path) -> None:
    """What a command does not use costs it nothing, however many operations there are."""
    script = f"from studio_tui.cli.main import run; run(['--home', {str(tmp_path)!r}, 'runs', 'list', '--json'])"
    modules = {name.removeprefix("studio_tui.application.") for name in _modules_after(f"{script}; print()")}
    assert "runs" in modules
    others = {"studio", "schedules", "definitions", "projects", "attention", "approvals", "outbox", "workflows", "contract"}
    assert not modules & others
    assert not {name for name in modules if name.startswith("models.")} - {"models.common", "models.runs"}

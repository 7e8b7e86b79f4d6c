"""What every test may use: a clean environment, and homes made by the real lionagi package."""

from __future__ import annotations

import faulthandler
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from tests.postgres import Server

PEER_NOW = 1_796_000_000.0
"""The instant for which :func:`peer_home` is built, in epoch seconds (2026-11-30T00:53:20Z)."""

CLEANING_SECONDS = 120
"""Longer than this no test cleans up: then its process is ended, and the run goes on with another."""

_FOREIGN_PREFIXES = ("LIONAGI_", "STUDIO_TUI_", "TEXTUAL_", "LI_STUB_")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of tests/simulation: they are known only where pytest looks before it collects."""
    group = parser.getgroup("simulation")
    group.addoption("--daemon-minutes", type=float, default=0.0, metavar="N", help="minutes beside the real daemon (a tick)")
    group.addoption("--sim-days", type=float, default=420.0, metavar="N", help="simulated days over all worlds (420)")
    group.addoption("--sim-seed", type=int, default=None, metavar="S", help="play the world of this seed only")
    group = parser.getgroup("studio-tui")
    group.addoption(
        "--two-writer-seconds", type=float, default=4.0, metavar="N", help="how long two programs write one store (4)"
    )
    group.addoption("--kills", type=int, default=20, metavar="N", help="how often a writer is killed, on each database (20)")
    group.addoption("--kill-seed", type=int, default=None, metavar="S", help="kill at the moments of this seed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    """What cleans up after a test must end too. The time limit of the whole test is lifted once the test has failed."""
    faulthandler.dump_traceback_later(CLEANING_SECONDS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the person who runs the tests reaches them, and nothing reaches that person's home."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN_PREFIXES) or name in {"NO_COLOR", "COLORTERM", "TZ", "EDITOR", "VISUAL"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(_shared_home(tmp_path_factory)))
    monkeypatch.setenv("TZ", "UTC")


def _shared_home(factory: pytest.TempPathFactory) -> Path:
    home = factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture(scope="session")
def peer_home_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rich home built once by the real package; read it, never open it for writing."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    home = shared / "peer-home-template"
    with (shared / "peer-home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "FIXTURE.json").exists():
            shutil.rmtree(home, ignore_errors=True)
            _run_peer("--out", str(home), "--now", repr(PEER_NOW))
    return home


@pytest.fixture
def peer_home(peer_home_template: Path, tmp_path: Path) -> Path:
    """A copy of the rich home, whose stored paths are true for the copy. Its "now" is :data:`PEER_NOW`."""
    home = tmp_path / "peer"
    _run_peer("--relocate", str(peer_home_template), str(home))
    return home


def _run_peer(*arguments: str) -> None:
    builder = Path(__file__).parent / "interop" / "peer_home.py"
    subprocess.run([sys.executable, str(builder), *arguments], check=True, capture_output=True, cwd="/")


@pytest.fixture
def query() -> Callable[..., list[tuple[object, ...]]]:
    """``query(store, sql, *values)``: what another process would read from a SQLite store."""

    def run(store: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(store, timeout=10)
        try:
            rows = connection.execute(sql, values).fetchall()
            connection.commit()
        finally:
            connection.close()
        return rows

    return run


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """The PostgreSQL server of this test process, started when a test first needs it."""
    server = Server()
    try:
        server.make()
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_database(postgres: Server) -> Iterator[str]:
    """The name of a database of this test's own, with an empty store in it."""
    name = postgres.database()
    yield name
    postgres.drop(name)


@pytest.fixture
def lent_url(postgres: Server) -> Iterator[str]:
    """The address of an empty store in a database that other tests have had and will have."""
    name = postgres.lend()
    yield postgres.url(name)
    postgres.give_back(name)


@pytest.fixture
def postgres_url(postgres: Server, postgres_database: str) -> str:
    """The address of this test's own store on PostgreSQL."""
    return postgres.url(postgres_database)

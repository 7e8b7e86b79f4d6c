"""A home for operations: a real, empty store and real folders, with a clock that is held."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.application.covering import proof
from tests.application.home import OpenHome
from tests.state.files import make_native_file


@pytest.fixture(autouse=True)
def _proof_of_paths(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test says to cover it must have done."""
    claims = [(str(mark.args[0]), str(mark.args[1])) for mark in request.node.iter_markers("covers")]
    with pytest.MonkeyPatch.context() as patch, proof(claims, patch):
        yield


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A native store without rows; copy it."""
    path = tmp_path_factory.mktemp("empty") / "state.db"
    make_native_file(path)
    return path


@pytest.fixture
async def home(empty_store: Path, tmp_path: Path) -> AsyncIterator[OpenHome]:
    """An open home with an empty store."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(empty_store, folder / "state.db")
    opened = OpenHome(folder)
    await opened.open()
    yield opened
    await opened.close()

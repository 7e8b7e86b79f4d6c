"""The benchmark of the store's reads runs, and its sides give the same answers. Its figures are for nobody here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.data_reads import smoke


def test_every_question_is_answered_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    smoke(tmp_path)
    table = capsys.readouterr().out
    for metric in ("runs, first page", "longest transcript, newest 20", "open a store to write", "claim a firing and write it"):
        assert metric in table

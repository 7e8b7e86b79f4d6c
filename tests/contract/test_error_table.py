"""The table of errors in the documentation is the taxonomy, row by row."""

from __future__ import annotations

import re
from pathlib import Path

from studio_tui.application import errors
from studio_tui.application.models.failures import FAILURES

TABLE = Path(__file__).parents[2] / "docs" / "errors.md"


def _rows() -> dict[str, list[str]]:
    rows = {}
    for line in TABLE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if match := re.fullmatch(r"`(\w+)`", cells[0]):
            rows[match[1]] = cells
    return rows


def test_every_error_has_its_row_with_its_exit_code_and_fields() -> None:
    rows = _rows()
    kinds = errors.StudioApplicationError.__subclasses__()
    assert set(rows) == {kind.code for kind in kinds}
    documents = {failure.model_fields["code"].annotation.__args__[0]: failure for failure in FAILURES}  # type: ignore[union-attr]
    for kind in kinds:
        _, exit_code, meaning, fields, screen, retry = rows[kind.code]
        assert exit_code == str(kind.exit_code)
        assert meaning
        assert screen
        assert retry
        own = set(documents[kind.code].model_fields) - {"code", "message"}
        assert set(re.findall(r"`(\w+)`", fields)) == own, kind.code


def test_exit_codes_tell_the_errors_apart() -> None:
    codes = [kind.exit_code for kind in errors.StudioApplicationError.__subclasses__()]
    assert len(codes) == len(set(codes))
    assert not {0, 1} & set(codes)

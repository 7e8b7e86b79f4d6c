"""A text that no clipboard takes goes to a private file."""

from __future__ import annotations

import stat
from pathlib import Path

from studio_tui.console import save_copy


def test_a_copy_is_whole_private_and_never_overwrites_another(tmp_path: Path) -> None:
    folder = tmp_path / "studio-tui" / "copies"
    one, other = (Path(save_copy(folder, text)) for text in ("é" * 100_000, "half of a letter: \ud800"))
    assert one != other
    assert one.read_text() == "é" * 100_000
    assert other.read_text().startswith("half of a letter")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (one, other)} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700

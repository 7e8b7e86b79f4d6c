"""Where a zone comes from, in words."""

from __future__ import annotations

import pytest

from studio_tui.application.zone_words import zone_origin


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("schedule:resolved_timezone", "declared"),
        ("env:LIONAGI_SCHEDULER_TZ", "from LIONAGI_SCHEDULER_TZ"),
        ("env:TZ", "from TZ"),
        ("system:localtime", "this machine's"),
        ("fallback:utc", "nobody chose one: UTC is taken"),
        ("fallback:utc:unloadable-name", "the chosen one is not known here: UTC is taken"),
        ("of a later version", "of a later version"),
        (None, ""),
    ],
)
def test_every_source_of_the_store_has_words(source: str | None, words: str) -> None:
    assert zone_origin(source) == words

"""Output of processes: whatever it holds, what is shown of it is text."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from studio_tui.application.output_text import joined, readable
from studio_tui.application.pauses import in_slices
from studio_tui.application.ports import OutputTail

_PIECES = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]", "31m", "\x07", "\x1b\\", "\r", "\n", "\x00", "a", "ä", "\u202e", "\x9b", "P", "[K"]
)


@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=80))
def test_nothing_that_a_terminal_would_act_on_is_left(text: str) -> None:
    shown = readable(text)
    assert not [c for c in shown if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert readable(shown) == shown


@given(st.text(alphabet="ab \n\t", max_size=80))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


@given(st.text(max_size=40), st.text(max_size=40))
def test_both_streams_are_there(out: str, err: str) -> None:
    shown = joined(OutputTail(out, err, len(out), len(err)))
    assert readable(out).strip("\n") in shown
    assert readable(err).strip("\n") in shown


@given(st.lists(st.integers(min_value=0, max_value=60), max_size=80))
async def test_work_in_slices_keeps_order_and_loses_nothing(items: list[int]) -> None:
    assert await in_slices(items, lambda item: item * 2, weight=lambda item: item) == [item * 2 for item in items]

"""The filter language of runs."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.run_filter import FAULTS, parse_run_filter


def test_conditions_and_words_are_told_apart() -> None:
    query = parse_run_filter('status:failed,running project:web kind:flow tag:nightly tag:slow playbook:rel "two words" plain')
    assert query.status == ("failed", "running")
    assert (query.project, query.kind, query.tags, query.playbook) == ("web", "flow", ("nightly", "slow"), "rel")
    assert query.text == "two words plain"


def test_faults_stand_for_every_status_that_went_wrong() -> None:
    assert parse_run_filter("status:faults").status == FAULTS


def test_no_project_is_not_a_project_of_that_name() -> None:
    query = parse_run_filter("project:none")
    assert query.project is None
    assert query.project_is_null


@pytest.mark.parametrize("text", ["[", "[/", "[/red]", "\\[", "(*", "https://example.org/x", 'fix: it"s', "50%_"])
def test_other_text_is_looked_for_as_it_stands(text: str) -> None:
    assert parse_run_filter(text).text == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("staus:failed", "did you mean status:"),
        ("status:faild", "not 'faild'"),
        ("kind:robot", "must be one of agent"),
        ("project:a project:b", "once"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(ValidationFailure, match=said):
        parse_run_filter(text)


def test_an_empty_value_is_a_condition_still_being_typed() -> None:
    assert parse_run_filter("status: project:").status == ()


@given(st.text(max_size=60))
def test_any_text_is_a_query_or_a_named_mistake(text: str) -> None:
    with contextlib.suppress(ValidationFailure):
        assert parse_run_filter(text).limit == 200

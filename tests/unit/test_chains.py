"""Chains in words: what a step inherits, and what its author should know."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.domain.chains import MAX_CHAIN_DEPTH, chain_remarks, chain_words, step_faults


def a_chain(depth: int) -> dict[str, Any]:
    chain: dict[str, Any] = {"kind": "agent", "on_fail": None}
    for _ in range(depth - 1):
        chain = {"prompt": "again", "on_fail": chain}
    return chain


def test_a_chain_may_be_as_deep_as_the_limit_and_no_deeper() -> None:
    assert list(step_faults(a_chain(MAX_CHAIN_DEPTH))) == []
    (fault,) = step_faults(a_chain(MAX_CHAIN_DEPTH + 1))
    assert (fault.path, fault.code) == (("on_fail",) * MAX_CHAIN_DEPTH, "too_deep")


@pytest.mark.parametrize(
    ("step", "path", "code"),
    [
        ([], (), "not_an_object"),
        ({"promt": "x"}, ("promt",), "unknown"),
        ({"kind": None}, ("kind",), "unknown"),
        ({"model": 3}, ("model",), "not_text"),
        ({"on_success": {"on_fail": 1}}, ("on_success", "on_fail"), "not_an_object"),
    ],
)
def test_a_fault_says_where_it_is(step: object, path: tuple[str, ...], code: str) -> None:
    assert [(fault.path, fault.code) for fault in step_faults(step)] == [(path, code)]


def test_a_step_that_inherits_the_branch_which_led_to_it_is_pointed_out() -> None:
    (remark,) = chain_remarks({"on_success": None, "on_fail": {"prompt": "again"}})
    assert "inherits" in remark
    assert "depth limit of 10" in remark
    assert 'write "on_fail": null' in remark
    nested = {"on_fail": None, "on_success": {"prompt": "then"}}
    assert [remark.split()[0] for remark in chain_remarks({"on_success": None, "on_fail": nested})] == ["on_fail.on_success"]
    assert chain_remarks({"on_success": None, "on_fail": {"on_fail": None, "on_success": None}}) == ()


def test_a_chain_in_words() -> None:
    step = {"kind": "agent", "agent": "fixer", "prompt": "mend it", "on_fail": None, "on_success": {"model": "x"}}
    assert chain_words({"on_success": None, "on_fail": step}) == (
        "on fail: kind agent, agent fixer with a prompt of its own",
        "on fail, then on success: model x; repeats until the depth limit of 10 (it inherits on_success)",
    )
    assert chain_words({"on_success": {}, "on_fail": None}) == ()
    assert chain_words({"on_success": {"on_fail": None}, "on_fail": None}) == (
        "on success: the same action again; repeats until the depth limit of 10 (it inherits on_success)",
    )

"""Redaction: no secret survives where text enters a log, an error or a screen, whatever stands around it."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from studio_tui.logs import masked
from studio_tui.state.urls import label_of, mask_url

_SECRET = st.text(string.ascii_letters + string.digits + "_-+.~%", min_size=8, max_size=40).filter(
    lambda text: text.strip("-_+.~%") != "" and "tokens" not in text
)
_AROUND = st.text(st.characters(codec="utf-8", categories=("L", "Zs")), max_size=20).map(lambda text: text + " ")
_FORMS = (
    "postgresql://ann:{}@db.example:5432/store",
    "redis://:{}@cache",
    "password={}",
    "PGPASSWORD: {}",
    'api_key="{}"',
    "'token': '{}'",
    "X-Api-Key: {}",
    "client_secret={}",
    "Authorization: Bearer {}",
    "authorization=bearer {}",
)
_KEYS = ("sk-{}", "ghp_{}", "github_pat_{}", "xoxb-{}")


@pytest.mark.parametrize("form", _FORMS)
@given(secret=_SECRET, before=_AROUND, after=_AROUND)
def test_a_named_secret_is_masked_wherever_it_stands(form: str, secret: str, before: str, after: str) -> None:
    assume(secret not in f"{before}{form}{after}")
    shown = masked(f"{before}{form.format(secret)} {after}")
    assert secret not in shown
    assert "***" in shown
    assert masked(shown) == shown


@pytest.mark.parametrize("form", _KEYS)
@given(secret=st.text(string.ascii_letters + string.digits, min_size=16, max_size=40), before=_AROUND)
def test_a_well_known_key_is_masked_without_a_name(form: str, secret: str, before: str) -> None:
    assume(secret not in before)
    assert secret not in masked(f"{before}{form.format(secret)}")


@given(st.text(st.characters(codec="utf-8", exclude_characters=":="), max_size=80))
def test_text_without_a_name_or_a_key_stays_as_it_is(text: str) -> None:
    if not any(sign in text for sign in ("sk-", "gh", "AKIA", "xox")):
        assert masked(text) == text


@pytest.mark.parametrize("text", ["max_tokens: 4096", "tokens=12", "no secrets here", "authors: ann, bob"])
def test_figures_and_words_that_only_sound_like_it_are_left(text: str) -> None:
    assert masked(text) == text


@given(
    secret=st.text(string.ascii_letters + string.digits, min_size=8, max_size=30),
    parameter=st.sampled_from(["password", "sslpassword"]),
)
def test_the_name_of_a_store_never_holds_its_password(secret: str, parameter: str) -> None:
    for address in (f"postgresql://ann:{secret}@db/store", f"postgresql://db/store?{parameter}={secret}"):
        assert secret not in mask_url(address)
        assert secret not in label_of(address.replace("postgresql://", "postgresql+asyncpg://"))

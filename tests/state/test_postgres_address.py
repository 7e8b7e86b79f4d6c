"""What an address of a PostgreSQL store may say, and what it means to the driver; no server is needed here."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.engine import make_engine
from studio_tui.state.postgres import CONNECT_WITHIN, engine_options, read_address, tls_argument

URL = "postgresql+asyncpg://u:s3cret@h/db"


def _arguments(query: str, **kind: Any) -> dict[str, Any]:
    options = {"pooled": False, "readonly": False, "answer_within": 30.0, **kind}
    return dict(engine_options(read_address(f"{URL}?{query}"), **options)["connect_args"])


def test_sslmode_words() -> None:
    for word in (None, "prefer", "allow", "nonsense"):
        assert tls_argument(word) is None
    assert tls_argument("disable") is False
    require = tls_argument("require")
    assert isinstance(require, ssl.SSLContext)
    assert require.verify_mode == ssl.CERT_NONE
    assert not require.check_hostname
    for word in ("verify-ca", "verify-full"):
        context = tls_argument(word)
        assert isinstance(context, ssl.SSLContext)
        assert context.verify_mode == ssl.CERT_REQUIRED


def test_a_root_that_is_named_is_what_certificates_are_checked_against() -> None:
    root = str(Path(ssl.get_default_verify_paths().openssl_cafile))
    if not Path(root).is_file():
        pytest.skip("this system has no file of certificates")
    context = tls_argument("require", {"sslrootcert": root})
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, False)
    assert isinstance(tls_argument("verify-full", {"sslrootcert": "system"}), ssl.SSLContext)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("sslmode=verify-full&sslrootcert=/nowhere/x&application_name=studio", "sslrootcert"),
        ("sslmode=require&sslcert=/nowhere/x&sslkey=/nowhere/y", "sslcert"),
        ("channel_binding=require", "channel_binding"),
        ("sslmode=require&gssencmode=disable", "gssencmode"),
        ("connect_timeout=soon", "connect_timeout"),
    ],
)
def test_a_parameter_that_means_nothing_is_named_and_no_secret_told(query: str, named: str) -> None:
    with pytest.raises(StateUnavailable, match=rf"parameter {named} in the address") as caught:
        make_engine(f"{URL}?{query}")
    assert "s3cret" not in str(caught.value)
    assert "/nowhere" not in str(caught.value)
    assert not caught.value.retryable


def test_parameters_reach_the_driver_in_its_own_words() -> None:
    found = _arguments("sslmode=require&application_name=x%20y&connect_timeout=5&command_timeout=7&search_path=a")
    assert found["timeout"] == 5.0
    assert found["command_timeout"] == 7.0
    assert found["server_settings"] == {"application_name": "x y", "search_path": "a"}
    assert isinstance(found["ssl"], ssl.SSLContext)
    assert _arguments("connect_timeout=0")["timeout"] is None
    assert (_arguments("")["timeout"], _arguments("")["command_timeout"]) == (CONNECT_WITHIN, 30.0)


def test_what_names_the_server_stays_in_the_url() -> None:
    found = read_address(f"{URL}?host=/run/pg&port=6000&sslmode=disable")
    assert found.url == "postgresql+studio://u:s3cret@h/db?host=%2Frun%2Fpg&port=6000"
    assert (found.arguments["ssl"], found.settings) == (False, {})


def test_behind_a_pooler_no_statement_and_no_setting_outlives_a_transaction() -> None:
    direct, pooled = _arguments("", readonly=True), _arguments("", readonly=True, pooled=True)
    assert direct["server_settings"] == {"default_transaction_read_only": "on"}
    assert "server_settings" not in pooled
    assert pooled["prepared_statement_cache_size"] == pooled["statement_cache_size"] == 0
    assert pooled["prepared_statement_name_func"]() == ""
    names = {direct["prepared_statement_name_func"]() for _ in range(100)}
    assert len(names) == 100


@pytest.mark.parametrize("url", ["postgresql+psycopg://u:s3cret@h/db", "mysql+asyncmy://u:s3cret@h/db", "oracle://s3cret"])
def test_other_drivers_are_refused(url: str) -> None:
    with pytest.raises(StateUnavailable, match="not the address") as caught:
        make_engine(url)
    assert "s3cret" not in str(caught.value)

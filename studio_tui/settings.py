"""Where settings come from: flag, environment, ``config.toml``, default, in this order. The only reader of ``os.environ``.

Importing this module costs nothing but the standard library, so that the first frame need not wait: :func:`appearance` answers
what that frame needs, :func:`load_settings` builds the full, checked model (:mod:`studio_tui.settings_model`) afterwards.
Names and defaults of ``LIONAGI_…`` variables are those of lionagi 0.36; ours are ``STUDIO_TUI_…``. A variable that is set to
nothing counts as unset.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from studio_tui.application.errors import ValidationFailure

if TYPE_CHECKING:
    from studio_tui.settings_model import Settings

VARIABLES: Final[Mapping[str, str]] = {
    "home": "LIONAGI_HOME",
    "db": "LIONAGI_STATE_DB_URL",
    "busy_timeout_ms": "LIONAGI_SQLITE_BUSY_TIMEOUT_MS",
    "shows_root": "LIONAGI_SHOWS_ROOT",
    "scheduler_cwd": "LIONAGI_SCHEDULER_CWD",
    "command_allowlist": "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST",
    "max_scheduled_concurrent": "LIONAGI_STUDIO_MAX_SCHEDULED_CONCURRENT",
    "invocation_deadline_seconds": "LIONAGI_STUDIO_INVOCATION_DEADLINE_SECONDS",
    "studio_port": "LIONAGI_STUDIO_PORT",
    "phantom_stale_hours": "LIONAGI_STUDIO_PHANTOM_STALE_HOURS",
    "play_stale_hours": "LIONAGI_STUDIO_PLAY_STALE_HOURS",
    "schedule_run_stale_hours": "LIONAGI_STUDIO_SCHEDULE_RUN_STALE_HOURS",
    "show_stale_hours": "LIONAGI_STUDIO_SHOW_STALE_HOURS",
    "zero_session_grace_seconds": "LIONAGI_STUDIO_ZERO_SESSION_GRACE_SECONDS",
    "reaper_interval_seconds": "LIONAGI_STUDIO_REAPER_INTERVAL_SECONDS",
    "github_api": "STUDIO_TUI_GITHUB_API",
    "path": "STUDIO_TUI_PATH",
    "theme": "STUDIO_TUI_THEME",
    "ascii": "STUDIO_TUI_ASCII",
    "log_level": "STUDIO_TUI_LOG_LEVEL",
    "read_only": "STUDIO_TUI_READ_ONLY",
    "scheduler": "STUDIO_TUI_SCHEDULER",
}
"""Each setting and the variable that sets it."""

KINDS: Final = ("agent", "flow", "fanout", "play", "flow_yaml", "command")
BY_KIND: Final = "invocation_deadline_by_kind"
FILE_KEYS: Final = frozenset({*VARIABLES, BY_KIND} - {"home"})
"""What may stand in ``config.toml``. The home may not, since the file is found through it."""

THEMES: Final = ("dark", "light", "contrast", "ansi", "mono")
CONFIG_VARIABLE: Final = "STUDIO_TUI_CONFIG"
DOTENV_FILES: Final = (".env", ".env.local", ".secrets.env")
"""Files of the working directory in which lionagi looks for the address of the store; a later one wins."""

_SIXTEEN_COLOURS: Final = frozenset({"linux", "screen", "vt100", "vt220", "ansi", "xterm-16color"})

Flags = Mapping[str, object]
"""Settings chosen for this start, by field name."""


def environment() -> Mapping[str, str]:
    """The variables of this process that are set to something."""
    return {name: value for name, value in os.environ.items() if value.strip()}


def whole_environment() -> dict[str, str]:
    """Every variable of this process, as a child would inherit it."""
    return dict(os.environ)


def inside_agent() -> bool:
    """Whether an agent started this process, directly or through others (lionagi 0.36)."""
    return environment().get("LIONAGI_AGENT_DEPTH", "0").strip() != "0"


def variable_of_kind(kind: str) -> str:
    """The variable with the deadline of one action kind."""
    return f"LIONAGI_STUDIO_INVOCATION_DEADLINE_{kind.upper()}_SECONDS"


def from_environment(variables: Mapping[str, str]) -> dict[str, object]:
    """The settings that the environment gives, by field name; texts, not yet checked.

    The address of the store is matched without regard to case, and looked for in the ``.env`` files of the working directory
    too, as lionagi does.
    """
    found: dict[str, object] = {field: variables[name] for field, name in VARIABLES.items() if name in variables}
    if address := _store_address(variables):
        found["db"] = address
    by_kind = {kind: variables[name] for kind in KINDS if (name := variable_of_kind(kind)) in variables}
    if by_kind:
        found[BY_KIND] = by_kind
    return found


def _store_address(variables: Mapping[str, str]) -> str | None:
    wanted = VARIABLES["db"].lower()
    for name, value in variables.items():
        if name.lower() == wanted:
            return value
    present = [path for path in map(Path, DOTENV_FILES) if path.is_file()]
    if not present:
        return None
    from dotenv import dotenv_values

    address = None
    for path in present:
        try:
            values = dotenv_values(path, encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        address = next((value for name, value in values.items() if name.lower() == wanted and value), address)
    return address


def home_directory(flags: Flags, variables: Mapping[str, str]) -> Path:
    """The lionagi home: flag, ``LIONAGI_HOME``, or ``~/.lionagi``; absolute, and not made by asking."""
    chosen = flags.get("home") or variables.get(VARIABLES["home"]) or "~/.lionagi"
    return Path(os.path.abspath(os.path.expanduser(str(chosen))))


def config_path(flags: Flags, variables: Mapping[str, str]) -> Path:
    """Our configuration file; it need not exist."""
    chosen = variables.get(CONFIG_VARIABLE)
    return Path(chosen).expanduser() if chosen else home_directory(flags, variables) / "studio-tui" / "config.toml"


def read_config(path: Path) -> dict[str, object]:
    """The file's keys; empty when there is none. Raises :class:`ValidationFailure` when it is not TOML or not readable."""
    try:
        written = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ValidationFailure.of(str(path), "unreadable", f"cannot be read ({error.strerror})") from error
    import tomllib  # a start without a file does not pay for it

    try:
        return tomllib.loads(written.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValidationFailure.of(str(path), "syntax", f"is not valid TOML: {error}") from error


@dataclass(frozen=True, slots=True)
class Appearance:
    """What the first frame must know. ``theme`` is the one that somebody chose, ``colors`` how few the terminal has if few.

    ``tmux`` tells that the terminal is a pane of it, ``copies`` where a text goes that no clipboard takes.
    """

    term: str
    theme: str | None
    no_color: bool
    colors: int | None
    ascii: bool
    tmux: bool
    copies: Path


def appearance(flags: Flags) -> Appearance:
    """Theme and glyphs, without the rest of the settings.

    Glyphs are ASCII where the locale cannot write others. A wrong value is left to :func:`load_settings` to name.
    """
    variables = environment()
    layers: list[Mapping[str, object]] = [flags, from_environment(variables)]
    try:
        layers.append(read_config(config_path(flags, variables)))
    except ValidationFailure:
        layers.append({})
    chosen: dict[str, object] = {}
    for layer in reversed(layers):
        chosen.update({key: layer[key] for key in ("theme", "ascii") if layer.get(key) is not None})
    term = variables.get("TERM", "")
    plain = chosen.get("ascii", not _writes_unicode())
    return Appearance(
        term=term,
        theme=str(chosen["theme"]) if chosen.get("theme") in THEMES else None,
        no_color="NO_COLOR" in variables,
        colors=16 if term in _SIXTEEN_COLOURS and "COLORTERM" not in variables else None,
        ascii=plain if isinstance(plain, bool) else str(plain).lower() in ("1", "true", "yes", "on", "t", "y"),
        tmux="TMUX" in variables,
        copies=home_directory(flags, variables) / "studio-tui" / "copies",
    )


def _writes_unicode() -> bool:
    try:
        "●".encode(sys.__stdout__.encoding if sys.__stdout__ else "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def home_label(flags: Flags) -> str:
    """What the console works on, for a title: the home as its owner would write it, or the database on a server."""
    if (database := _database_on_server(flags)) is not None:
        return database
    home = home_directory(flags, environment())
    own = Path("~").expanduser()
    return f"~/{home.relative_to(own)}" if home.is_relative_to(own) and home != own else str(home)


def _database_on_server(flags: Flags) -> str | None:
    """The address of a store on a server without login and parameters; ``None`` for a file."""
    address = flags.get("db") or (None if flags.get("home") else _store_address(environment()))
    scheme, _, rest = str(address or "").partition("://")
    if not scheme.lower().startswith("postgres"):
        return None
    return f"postgresql://{rest.partition('?')[0].rpartition('@')[2]}"


def wants_colour() -> bool:
    """Whether printed text may be coloured: a terminal, and nobody said no."""
    variables = environment()
    stream = sys.stdout
    return stream.isatty() and "NO_COLOR" not in variables and variables.get("TERM") != "dumb"


def load_settings(flags: Flags) -> Settings:
    """The full settings. Raises :class:`ValidationFailure` with one sentence for each wrong value."""
    from studio_tui.settings_model import build

    return build(flags)

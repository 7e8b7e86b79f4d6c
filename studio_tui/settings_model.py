"""The full settings, checked. How they are found is said in :mod:`studio_tui.settings`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError

from studio_tui import settings as found
from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.domain.schedules import Zone
from studio_tui.hostzone import host_zone

_DEFAULT_BUSY_TIMEOUT: Final = 5000
_KIND_NAMES: Final = ", ".join(found.KINDS)
_ALLOWED: Final[Mapping[str, str]] = {
    "home": "a directory",
    "db": "an address or a path of a store",
    "shows_root": "a directory",
    "scheduler_cwd": "a directory",
    "command_allowlist": "a list of bare executable names",
    "max_scheduled_concurrent": "a whole number, 0 or more (0 is no limit)",
    "invocation_deadline_seconds": "a number of seconds above 0",
    found.BY_KIND: f"a table of seconds above 0 by action kind ({_KIND_NAMES})",
    "studio_port": "a port, 1 to 65535",
    "phantom_stale_hours": "a number of hours above 0",
    "play_stale_hours": "a number of hours above 0",
    "schedule_run_stale_hours": "a number of hours above 0",
    "show_stale_hours": "a number of hours above 0",
    "zero_session_grace_seconds": "a number of seconds above 0",
    "reaper_interval_seconds": "a number of seconds above 0",
    "github_api": "an address such as https://api.github.com, without login, query or fragment",
    "path": "a list of folders",
    "theme": "one of " + ", ".join(found.THEMES),
    "ascii": "true or false",
    "log_level": "one of debug, info, warning, error",
    "read_only": "true or false",
    "scheduler": "true or false",
}


def _path(value: object) -> object:
    return Path(value).expanduser() if isinstance(value, str | Path) else value


def _names(value: object) -> object:
    """A comma list as lionagi writes it, or a TOML list."""
    return [name for name in (part.strip() for part in value.split(",")) if name] if isinstance(value, str) else value


def _folders(value: object) -> object:
    """A list with colons as PATH has it, or a TOML list."""
    parts = value.split(os.pathsep) if isinstance(value, str) else value
    return [_path(part) for part in parts if part] if isinstance(parts, list | tuple) else parts


def _plain_address(value: str) -> str:
    """An address that a token may be sent to. Raises :class:`ValueError` for anything else."""
    parts = urlsplit(value.strip())
    wanted = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    if not wanted or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("is no plain address")
    return value.strip().rstrip("/")


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


ExpandedPath = Annotated[Path, BeforeValidator(_path)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Hours = Positive


class Settings(BaseModel):
    """Everything that can be set. Lengths are in the unit that the name says; see ``_ALLOWED`` for the limits in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: ExpandedPath
    db: SecretStr | None = None
    busy_timeout_ms: int = Field(default=_DEFAULT_BUSY_TIMEOUT, gt=0)
    shows_root: ExpandedPath = Field(default_factory=lambda: Path("~/khive-work/shows").expanduser())
    scheduler_cwd: ExpandedPath | None = None
    command_allowlist: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    max_scheduled_concurrent: int = Field(default=4, ge=0)
    invocation_deadline_seconds: Positive = 7200.0
    invocation_deadline_by_kind: dict[str, Positive] = Field(default_factory=dict)
    studio_port: int = Field(default=8765, ge=1, le=65535)
    phantom_stale_hours: Hours = 1.0
    play_stale_hours: Hours = 6.0
    schedule_run_stale_hours: Hours = 24.0
    show_stale_hours: Hours = 6.0
    zero_session_grace_seconds: Positive = 300.0
    reaper_interval_seconds: Positive = 300.0
    github_api: Annotated[str, AfterValidator(_plain_address)] = "https://api.github.com"
    path: Annotated[tuple[Path, ...], BeforeValidator(_folders)] = ()
    theme: Literal["dark", "light", "contrast", "ansi", "mono"] | None = None
    ascii: bool | None = None
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = "info"
    read_only: bool = False
    scheduler: bool | None = None

    _warnings: tuple[str, ...] = PrivateAttr(default=())
    _flags: dict[str, object] = PrivateAttr(default_factory=dict)
    _db_source: str | None = PrivateAttr(default=None)
    _later: tuple[object, Settings] | None = PrivateAttr(default=None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about settings that were not used as they were written."""
        return self._warnings

    @property
    def db_source(self) -> str | None:
        """Who chose the store's address (``flag``, ``environment``, ``file``), or ``None`` when it is the home's own."""
        return self._db_source

    @property
    def own_directory(self) -> Path:
        """Where everything lives that is ours alone: sidecar, configuration, logs."""
        return self.home / "studio-tui"

    def deadline(self, kind: str) -> float:
        """Seconds after which a firing of this action kind is ended."""
        return self.invocation_deadline_by_kind.get(kind, self.invocation_deadline_seconds)

    def zone(self) -> Zone:
        """The zone in which cron expressions without one of their own are read.

        Only the environment and the host choose it, never our file: the peer's daemon must come to the same answer.
        Raises :class:`ValidationFailure` when what was chosen is no zone of this machine (lionagi would use UTC in silence).
        """
        return host_zone(found.environment())

    def again(self) -> Settings:
        """The settings as they are now: the allow-list and the deadlines are read afresh before each launch (lionagi 0.36)."""
        stamp = _stamp(self._flags)
        if self._later is None or self._later[0] != stamp:
            self._later = (stamp, build(self._flags))
        return self._later[1]

    def search_path(self) -> str:
        """Where executables are looked for: our own folders, then those of PATH."""
        inherited = found.environment().get("PATH", os.defpath)
        return os.pathsep.join((*map(str, self.path), inherited))

    def child_environment(self, store_url: str | None) -> dict[str, str]:
        """The environment for what we launch: this process's, with the home and the store that we work on.

        ``store_url`` is the full address when somebody chose one; ``None`` leaves the child to the home's own store.
        """
        child = found.whole_environment()
        for name in [name for name in child if name.lower() == found.VARIABLES["db"].lower()]:
            del child[name]
        child["PATH"] = self.search_path()
        child[found.VARIABLES["home"]] = str(self.home)
        child[found.VARIABLES["shows_root"]] = str(self.shows_root)
        if store_url is not None:
            child[found.VARIABLES["db"]] = store_url
        return child


def build(flags: found.Flags) -> Settings:
    """See :func:`studio_tui.settings.load_settings`."""
    variables = found.environment()
    path = found.config_path(flags, variables)
    given = {key: value for key, value in flags.items() if value is not None}
    given["home"] = found.home_directory(flags, variables)
    from_variables = found.from_environment(variables)
    in_file = found.read_config(path)
    warnings = [*_tolerate_timeout(from_variables), *_set_aside_unknown(in_file, path)]
    if flags.get("home") is not None and given.get("db") is None:
        warnings += _set_aside_address(from_variables, in_file)
    layers: dict[str, dict[str, object]] = {"flags": given, "environment": from_variables, "file": in_file}
    try:
        settings = Settings.model_validate(_merged(layers))
    except ValidationError as error:
        raise ValidationFailure(*_sentences(error, layers, path)) from None
    settings._warnings = tuple(warnings)
    settings._flags = dict(flags)
    settings._db_source = next((name.removesuffix("s") for name, layer in layers.items() if "db" in layer), None)
    return settings


def _stamp(flags: found.Flags) -> object:
    """Changes whenever the variables or the file do."""
    variables = found.environment()
    try:
        file = found.config_path(flags, variables).stat()
    except OSError as failure:
        return variables, failure.errno
    return variables, (file.st_ino, file.st_mtime_ns, file.st_size)


def _merged(layers: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """One value for each field: that of the first layer that has it. Tables are merged key by key."""
    values: dict[str, object] = {}
    for layer in reversed(list(layers.values())):
        for field, value in layer.items():
            below = values.get(field)
            values[field] = {**below, **value} if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return values


def _tolerate_timeout(variables: dict[str, object]) -> list[str]:
    """A busy timeout that is no number above 0 counts as the default, with a warning (lionagi 0.36)."""
    text = str(variables.get("busy_timeout_ms", _DEFAULT_BUSY_TIMEOUT)).strip()
    if text.isascii() and text.isdigit() and int(text) > 0:
        return []
    del variables["busy_timeout_ms"]
    return [f"{found.VARIABLES['busy_timeout_ms']} is not a number above 0: {_DEFAULT_BUSY_TIMEOUT} is used"]


def _set_aside_unknown(in_file: dict[str, object], path: Path) -> list[str]:
    """Keys that mean nothing are left out, each with a warning that names the nearest one that does."""
    warnings = []
    for key in [key for key in in_file if key not in found.FILE_KEYS]:
        del in_file[key]
        nearest = difflib.get_close_matches(key, found.FILE_KEYS, n=1)
        hint = "the file is found through it" if key == "home" else f"did you mean {nearest[0]}?" if nearest else "not used"
        warnings.append(f"{path}: unknown key {key!r}: {hint}")
    return warnings


def _set_aside_address(*layers: dict[str, object]) -> list[str]:
    """A home that was named on the command line means its own store, whatever address is lying about."""
    dropped = [layer.pop("db") for layer in layers if "db" in layer]
    return [f"{found.VARIABLES['db']} is set and not used, since --home was given; give --db to use it"] if dropped else []


def _sentences(error: ValidationError, layers: Mapping[str, Mapping[str, object]], path: Path) -> list[FieldFailure]:
    """One sentence for each wrong value: where it was written, what is allowed, what was found."""
    failures = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        field = str(fault["loc"][0])
        failures[field] = _sentence(field, fault["loc"][1:], layers, path)
    return list(failures.values())


def _sentence(field: str, inside: tuple[int | str, ...], layers: Mapping[str, Mapping[str, object]], path: Path) -> FieldFailure:
    layer = next(name for name, values in layers.items() if field in values)
    value = layers[layer][field]
    kind = str(inside[0]) if inside and isinstance(value, Mapping) else None
    allowed, seen = _ALLOWED[field], "" if field in ("db", "github_api") else f", not {value!r}"
    if kind is not None and isinstance(value, Mapping):
        allowed, seen = _ALLOWED["invocation_deadline_seconds"], f", not {value[kind]!r}"
    return FieldFailure((_where(layer, field, kind, path),), "invalid", f"must be {allowed}{seen}")


def _where(layer: str, field: str, kind: str | None, path: Path) -> str:
    if layer == "flags":
        return "--" + field.replace("_", "-")
    if layer == "file":
        return f"{path}: {field}" + (f".{kind}" if kind else "")
    return found.variable_of_kind(kind) if kind else found.VARIABLES[field]

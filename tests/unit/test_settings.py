"""Where settings come from, in which order, and what is said of wrong ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio_tui.application.errors import ValidationFailure
from studio_tui.hostzone import host_zone
from studio_tui.settings import appearance, config_path, environment, home_label, load_settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def config(home: Path, text: str) -> None:
    path = home / "studio-tui" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_flag_beats_environment_beats_file_beats_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {"home": home}
    assert load_settings(flags).max_scheduled_concurrent == 4
    config(home, "max_scheduled_concurrent = 5\n")
    assert load_settings(flags).max_scheduled_concurrent == 5
    monkeypatch.setenv("LIONAGI_STUDIO_MAX_SCHEDULED_CONCURRENT", "6")
    assert load_settings(flags).max_scheduled_concurrent == 6
    assert load_settings({**flags, "max_scheduled_concurrent": 7}).max_scheduled_concurrent == 7


def test_a_variable_set_to_nothing_counts_as_unset(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_HOME", str(home))
    for name in ("LIONAGI_STATE_DB_URL", "LIONAGI_STUDIO_PORT", "STUDIO_TUI_THEME", "LIONAGI_SCHEDULER_TZ"):
        monkeypatch.setenv(name, "")
    settings = load_settings({})
    assert (settings.home, settings.db, settings.studio_port, settings.theme) == (home, None, 8765, None)


def test_names_and_defaults_are_those_of_lionagi() -> None:
    code = (
        "import lionagi.studio.config as c, json; print(json.dumps([c.STUDIO_PORT, str(c.SHOWS_ROOT), c.MAX_SCHEDULED_CONCURRENT,"
        "c.INVOCATION_DEADLINE_SECONDS, c.PHANTOM_STALE_HOURS, c.PLAY_STALE_HOURS, c.SCHEDULE_RUN_STALE_HOURS,"
        "c.SHOW_STALE_HOURS, c.SCHEDULER_TZ, c.SCHEDULER_TZ_SOURCE]))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    ours = load_settings({})
    zone = ours.zone()
    expected = [
        ours.studio_port, str(ours.shows_root), ours.max_scheduled_concurrent, ours.invocation_deadline_seconds,
        ours.phantom_stale_hours, ours.play_stale_hours, ours.schedule_run_stale_hours, ours.show_stale_hours,
        zone.name, zone.source,
    ]  # fmt: skip
    assert json.loads(answer.stdout) == expected


@pytest.mark.parametrize("value", ["https://github.example/api/v3", "http://127.0.0.1:8080/"])
def test_the_api_of_github_may_be_another(home: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    assert load_settings({"home": home}).github_api == "https://api.github.com"
    monkeypatch.setenv("STUDIO_TUI_GITHUB_API", value)
    assert load_settings({"home": home}).github_api == value.rstrip("/")


@pytest.mark.parametrize(
    "value",
    [
        "github.example",
        "ftp://github.example",
        "https://",
        "https://me:secret@github.example",
        "https://a.example/?q=1",
        "https://a:0",
    ],
)
def test_what_a_token_is_not_sent_to(home: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("STUDIO_TUI_GITHUB_API", value)
    with pytest.raises(ValidationFailure) as caught:
        load_settings({"home": home})
    assert "STUDIO_TUI_GITHUB_API: must be an address such as https://api.github.com" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_every_wrong_value_is_named_with_what_is_allowed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(home, 'theme = "pink"\n[invocation_deadline_by_kind]\ncommand = -1\n')
    monkeypatch.setenv("LIONAGI_STUDIO_PORT", "many")
    monkeypatch.setenv("LIONAGI_STUDIO_INVOCATION_DEADLINE_SECONDS", "nan")
    with pytest.raises(ValidationFailure) as caught:
        load_settings({"home": home, "log_level": "loud"})
    said = {error.path[0]: error.message for error in caught.value.field_errors}
    path = home / "studio-tui" / "config.toml"
    assert said == {
        "--log-level": "must be one of debug, info, warning, error, not 'loud'",
        "LIONAGI_STUDIO_PORT": "must be a port, 1 to 65535, not 'many'",
        "LIONAGI_STUDIO_INVOCATION_DEADLINE_SECONDS": "must be a number of seconds above 0, not 'nan'",
        f"{path}: theme": "must be one of dark, light, contrast, ansi, mono, not 'pink'",
        f"{path}: invocation_deadline_by_kind.command": "must be a number of seconds above 0, not -1",
    }
    assert caught.value.exit_code == 2


def test_an_unknown_key_is_a_warning_with_the_nearest_name(home: Path) -> None:
    config(home, 'theem = "light"\nhome = "/elsewhere"\nzzzz = 1\n')
    settings = load_settings({"home": home})
    assert settings.theme is None
    assert settings.home == home
    theem, elsewhere, zzzz = settings.warnings
    assert "'theem': did you mean theme?" in theem
    assert "'home'" in elsewhere
    assert zzzz.endswith("'zzzz': not used")


def test_a_broken_file_is_one_sentence(home: Path) -> None:
    config(home, "theme = \n")
    with pytest.raises(ValidationFailure, match=r"config\.toml: is not valid TOML"):
        load_settings({"home": home})
    assert appearance({"home": home}).theme is None


def test_the_file_can_be_elsewhere(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.toml"
    other.write_text('theme = "light"\n')
    monkeypatch.setenv("STUDIO_TUI_CONFIG", str(other))
    assert config_path({"home": home}, environment()) == other
    assert load_settings({"home": home}).theme == "light"
    assert appearance({"home": home}).theme == "light"


def test_a_busy_timeout_that_is_no_number_counts_as_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "-3")
    settings = load_settings({})
    assert settings.busy_timeout_ms == 5000
    assert settings.warnings == ("LIONAGI_SQLITE_BUSY_TIMEOUT_MS is not a number above 0: 5000 is used",)


class TestStoreAddress:
    def test_it_is_found_without_regard_to_case_and_in_the_files_that_the_peer_reads(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / ".env").write_text("LIONAGI_STATE_DB_URL=first.db\n")
        (tmp_path / ".secrets.env").write_text("lionagi_state_db_url='second.db'\nLIONAGI_SHOWS_ROOT=/not/read/from/here\n")
        settings = load_settings({})
        assert settings.db is not None
        assert settings.db.get_secret_value() == "second.db"
        assert settings.db_source == "environment"
        assert settings.shows_root == Path.home() / "khive-work" / "shows"
        monkeypatch.setenv("lionagi_state_db_url", "third.db")
        again = settings.again()
        assert again.db is not None
        assert again.db.get_secret_value() == "third.db"

    def test_a_home_on_the_command_line_means_its_own_store(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LIONAGI_STATE_DB_URL", "postgresql://op:S3cret@host/db")
        settings = load_settings({"home": home})
        assert settings.db is None
        assert settings.warnings == ("LIONAGI_STATE_DB_URL is set and not used, since --home was given; give --db to use it",)
        assert "LIONAGI_STATE_DB_URL" not in settings.child_environment(None)

    def test_its_password_is_in_no_text_of_the_settings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LIONAGI_STATE_DB_URL", "postgresql://op:S3cret@host/db")
        assert "S3cret" not in repr(load_settings({}))
        with pytest.raises(ValidationFailure) as caught:
            load_settings({"db": 7})
        assert "7" not in str(caught.value)


def test_children_work_on_the_same_home_and_store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("STUDIO_TUI_PATH", "/opt/tools")
    monkeypatch.setenv("EMPTY", "")
    child = load_settings({"home": home}).child_environment("sqlite+aiosqlite:////x.db")
    assert child["LIONAGI_HOME"] == str(home)
    assert child["LIONAGI_STATE_DB_URL"] == "sqlite+aiosqlite:////x.db"
    assert child["PATH"] == "/opt/tools:/usr/bin"
    assert child["EMPTY"] == ""


def test_the_allow_list_and_the_deadlines_are_read_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings({})
    assert settings.command_allowlist == ()
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", " date , echo,")
    monkeypatch.setenv("LIONAGI_STUDIO_INVOCATION_DEADLINE_COMMAND_SECONDS", "60")
    again = settings.again()
    assert again.command_allowlist == ("date", "echo")
    assert (again.deadline("command"), again.deadline("agent")) == (60.0, 7200.0)


class TestAppearance:
    def test_it_is_what_the_full_settings_say(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        config(home, 'theme = "light"\nascii = true\n')
        assert appearance({"home": home}).theme == "light"
        assert appearance({"home": home}).ascii is True
        monkeypatch.setenv("STUDIO_TUI_ASCII", "false")
        monkeypatch.setenv("STUDIO_TUI_THEME", "contrast")
        assert appearance({"home": home}).ascii is False
        assert appearance({"home": home}).theme == "contrast"
        assert appearance({"home": home, "theme": "mono"}).theme == "mono"

    def test_what_the_terminal_can_do_when_nobody_chose(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "linux")
        assert (appearance({}).theme, appearance({}).colors, appearance({}).no_color) == (None, 16, False)
        monkeypatch.setenv("COLORTERM", "truecolor")
        monkeypatch.setenv("NO_COLOR", "1")
        assert (appearance({}).colors, appearance({}).no_color) == (None, True)


class TestZone:
    def test_the_order_and_the_source(self, tmp_path: Path) -> None:
        assert host_zone({"LIONAGI_SCHEDULER_TZ": "Asia/Tokyo", "TZ": "UTC"}).source == "env:LIONAGI_SCHEDULER_TZ"
        assert host_zone({"TZ": ":America/New_York"}).name == "America/New_York"
        assert host_zone({"TZ": "/usr/share/zoneinfo/Europe/Berlin"}).name == "Europe/Berlin"
        nowhere = tmp_path / "localtime"
        assert host_zone({}, localtime=nowhere, timezone=nowhere).source == "fallback:utc"

    @pytest.mark.parametrize("variable", ["LIONAGI_SCHEDULER_TZ", "TZ"])
    def test_a_name_that_is_no_zone_is_an_error_and_not_utc(self, variable: str) -> None:
        with pytest.raises(ValidationFailure, match=f"{variable}: must be an IANA zone of this machine.*'Mars/Base'"):
            host_zone({variable: "Mars/Base"})

    def test_localtime_as_a_link_as_a_copy_and_as_nothing_known(self, tmp_path: Path) -> None:
        zones = Path("/usr/share/zoneinfo")
        if not (zones / "Europe" / "Berlin").exists():
            pytest.skip("no zone database on this machine")
        localtime, timezone = tmp_path / "localtime", tmp_path / "timezone"
        localtime.symlink_to(zones / "Europe" / "Berlin")
        assert host_zone({}, localtime=localtime, timezone=timezone).name == "Europe/Berlin"
        localtime.unlink()
        localtime.write_bytes((zones / "Europe" / "Berlin").read_bytes())
        with pytest.raises(ValidationFailure, match="does not tell which zone"):
            host_zone({}, localtime=localtime, timezone=timezone)
        timezone.write_text("Asia/Tokyo\n")
        with pytest.raises(ValidationFailure, match="does not tell which zone"):
            host_zone({}, localtime=localtime, timezone=timezone)
        timezone.write_text("Europe/Berlin\n")
        assert host_zone({}, localtime=localtime, timezone=timezone).source == "system:localtime"


def test_importing_the_settings_loads_nothing_heavy() -> None:
    code = "import sys, studio_tui.settings; print(sorted({'pydantic', 'click', 'textual', 'sqlalchemy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("flags", "variable", "label"),
    [
        ({"home": "/srv/prod"}, None, "/srv/prod"),
        ({"db": "postgres://op:S3cret@db.example/runs?sslmode=require"}, None, "postgresql://db.example/runs"),
        ({"home": "/srv/prod", "db": "postgresql://op@/runs?host=/run/pg"}, None, "postgresql:///runs"),
        ({}, "postgresql+asyncpg://op:S3cret@h/runs", "postgresql://h/runs"),
        ({"home": "/srv/prod"}, "postgresql://op:S3cret@h/runs", "/srv/prod"),
        ({"home": "/srv/prod", "db": "/srv/other.db"}, None, "/srv/prod"),
    ],
)
def test_the_title_names_what_the_console_works_on(
    monkeypatch: pytest.MonkeyPatch, flags: dict[str, object], variable: str | None, label: str
) -> None:
    if variable is not None:
        monkeypatch.setenv("LIONAGI_STATE_DB_URL", variable)
    assert home_label(flags) == label

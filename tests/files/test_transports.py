"""The command that carries messages, as the user's settings file names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio_tui.application.ports.commands import Transport
from studio_tui.domain.transports import filled
from studio_tui.files.transports import TransportFile


def settings(home: Path, text: str) -> TransportFile:
    path = home / ".lionagi" / "settings.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return TransportFile(home)


def test_a_template_with_both_placeholders(tmp_path: Path) -> None:
    found = settings(tmp_path, 'dispatch:\n  notify_template: ["carry", "--to={deliver_to}", "{deliver_to}", "{payload}"]\n')
    template = found.transport().template
    assert template == ("carry", "--to={deliver_to}", "{deliver_to}", "{payload}")
    assert filled(template, deliver_to="{payload}", payload="P") == (("carry", "--to={deliver_to}", "{payload}", "P"), "")
    assert filled(("carry", "{deliver_to}"), deliver_to="a b", payload="P") == (("carry", "a b"), "P")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the key is not there"),
        ("dispatch: 7\n", "the key is not there"),
        ("[a]\n", "the key is not there"),
        ("dispatch: {notify_template: carry}\n", "it must be a list of texts: a program and its arguments"),
        ("dispatch: {notify_template: []}\n", "it must be a list of texts: a program and its arguments"),
        ("dispatch: {notify_template: [carry, 7]}\n", "it must be a list of texts: a program and its arguments"),
        ("dispatch: {notify_template: [' ', '{deliver_to}']}\n", "it holds an argument that no program can be given"),
        ('dispatch: {notify_template: [carry, "a{deliver_to}"]}\n', "it must hold {deliver_to} as an argument of its own"),
        ("dispatch: {notify_template: [\n", "not valid YAML"),
    ],
)
def test_why_there_is_none(tmp_path: Path, text: str, why: str) -> None:
    found = settings(tmp_path, text).transport()
    assert found.template == ()
    assert found.problem is not None
    assert found.problem.startswith(f"no dispatch.notify_template in {tmp_path}/.lionagi/settings.yaml: {why}")


def test_no_file_and_no_right_to_it(tmp_path: Path) -> None:
    found = TransportFile(tmp_path)
    assert (found.transport().problem or "").endswith("there is no such file")
    (tmp_path / ".lionagi" / "settings.yaml").mkdir(parents=True)
    assert (found.transport().problem or "").endswith("it cannot be read: a folder, not a file")


def test_a_change_is_seen_and_what_did_not_change_is_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings(tmp_path, "dispatch: {notify_template: [one, '{deliver_to}']}\n")
    assert found.transport().template[0] == "one"
    settings(tmp_path, "dispatch: {notify_template: [other, '{deliver_to}']}\n")
    assert found.transport().template[0] == "other"
    monkeypatch.setattr(found, "_read", lambda: Transport(problem="parsed"))
    assert found.transport().template[0] == "other"
    os.utime(tmp_path / ".lionagi" / "settings.yaml", ns=(1, 1))
    assert found.transport().problem == "parsed"

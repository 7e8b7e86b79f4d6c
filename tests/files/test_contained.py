from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from studio_tui.files.contained import inside, name_problem, printable, probe, scan
from studio_tui.files.reading import read_file, why


def _all(name: str, is_folder: bool) -> bool:
    return True


@pytest.mark.parametrize(
    "name",
    ["", "  ", ".", "..", "../evil", "/tmp/evil", "a/b", "a\\b", "a\0b", "a*", "a?", "[a]", "{a}", "~a", "x" * 300, "\udcff"],
)
def test_names_that_lionagi_refuses_are_refused(name: str) -> None:
    assert name_problem(name)


@pytest.mark.parametrize("name", ["reviewer", "-rf", " leading space", "name.", "CON", "Ünïcode", "new\nline", "x" * 255])
def test_odd_names_that_stay_in_the_root_are_names(name: str) -> None:
    assert name_problem(name) is None


def test_length_is_counted_in_bytes() -> None:
    assert name_problem("ü" * 127) is None
    assert name_problem("ü" * 128)


def test_a_root_is_no_prefix_of_its_neighbour() -> None:
    assert inside("/a/b", "/a/b")
    assert inside("/a/b/c", "/a/b")
    assert inside("/a", "/")
    assert not inside("/a/bc", "/a/b")


def test_scan_of_what_is_not_there_is_empty_and_of_a_file_is_a_problem(tmp_path: Path) -> None:
    assert scan(tmp_path / "none", str(tmp_path), _all).entries == ()
    assert scan(tmp_path / "none", str(tmp_path), _all).problem is None
    (tmp_path / "file").write_text("x")
    assert scan(tmp_path / "file", str(tmp_path), _all).problem == "a file, not a folder"


def test_scan_judges_special_files_and_links_without_opening_them(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "out.md").write_text("x")
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)  # a socket's path must be short
        try:
            listener.bind("socket.md")
        finally:
            os.chdir(here)
    (root / "loop.md").symlink_to("loop.md")
    (root / "dangling.md").symlink_to("nowhere")
    (root / "out.md").symlink_to(tmp_path / "out.md")
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    (root / "near").symlink_to("folder")
    (root / "zero.md").symlink_to("/dev/zero")
    (root / ".hidden.md").write_text("x")

    found = {entry.name: entry for entry in scan(root, os.path.realpath(root), _all).entries}

    assert {name: entry.problem for name, entry in found.items()} == {
        "dangling.md": "a link to nothing",
        "folder": None,
        "loop.md": "a link that leads back to itself",
        "near": None,
        "out.md": None,
        "pipe.md": "a pipe; not opened",
        "self": "a link to a folder above it; not followed",
        "socket.md": "a socket; not opened",
        "up": "a link to a folder above it; not followed",
        "zero.md": "a device; not opened",
    }
    assert found["out.md"].target == os.path.realpath(tmp_path / "out.md")
    assert found["near"].target is None
    assert found["near"].is_folder


def test_a_folder_with_too_many_entries_says_so(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.md").write_text("x")
    listing = scan(tmp_path, str(tmp_path), _all, limit=5)
    assert len(listing.entries) == 5
    assert listing.problem == "more than 5 entries; the rest is not shown"


def test_read_file_takes_no_more_than_it_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    assert read_file(path, 4).data == b"0123"
    assert not read_file(path, 4).complete
    assert read_file(path, 10).complete


def test_read_file_returns_at_once_from_a_pipe_that_took_the_files_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError) as caught:  # noqa: PT011  the words are asserted below
        read_file(tmp_path / "pipe", 10)
    assert why(caught.value) == "a pipe; not opened"


def test_reasons_are_plain_words_without_a_path(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "not there any more"), (tmp_path / ("x" * 300), "its name is too long")):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            read_file(path, 10)
        assert why(caught.value) == reason
    assert why(OSError(errno.ENOSPC, "No space left on device")) == "no space left on device"


def test_names_that_are_not_utf8_become_text() -> None:
    assert printable(os.fsdecode(b"bad\xffbyte")) == "bad\\xffbyte"
    assert printable("Ünïcode") == "Ünïcode"


def test_probing_names_judges_as_a_scan_does(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling.md").symlink_to("nowhere")
    (tmp_path / ".hidden.md").write_text("x")
    os.mkfifo(tmp_path / "pipe.md")
    root = os.path.realpath(tmp_path)
    names = ["a.md", "folder", "dangling.md", ".hidden.md", "pipe.md", "none.md", "x" * 300]
    assert probe(tmp_path, root, names) == scan(tmp_path, root, _all)

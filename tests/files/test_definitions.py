from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from studio_tui.domain.definitions import FileDefinition
from studio_tui.files import definitions
from studio_tui.files.definitions import DefinitionFiles
from studio_tui.files.reading import Blob, read_file
from studio_tui.files.roots import Roots
from tests.files.conftest import age

Put = Callable[..., Path]


async def _by_name(roots: Roots, kind: str) -> dict[str, FileDefinition]:
    return {one.name: one for one in await DefinitionFiles(roots).list_definitions() if one.kind == kind}


async def test_missing_roots_are_empty_and_nothing_is_made(roots: Roots) -> None:
    files = DefinitionFiles(roots)
    assert await files.list_definitions() == ()
    assert await files.read_definition("agent", "x") is None
    assert not roots.agents.parent.exists()


async def test_a_root_that_cannot_be_listed_is_a_record_and_the_others_are_fine(roots: Roots, put: Put) -> None:
    put("agents", "a file where the folder should be")
    put("playbooks/p.playbook.yaml", "description: fine\n")
    found = await DefinitionFiles(roots).list_definitions()
    assert [(one.kind, one.name, one.error) for one in found] == [
        ("agent", "agents", "the folder agents: a file, not a folder"),
        ("playbook", "p", None),
    ]


async def test_agents_are_flat_files_and_files_one_folder_deep(roots: Roots, put: Put) -> None:
    put("agents/reviewer.md", "---\ndescription: Reads.\n---\n")
    put("agents/security/security.md")
    put("agents/security/aaa.md")
    put("agents/security/notes.txt")
    put("agents/team/lead.md")
    put("agents/team/zoe.md")
    put("agents/deep/er/lost.md")
    put("agents/notes.txt")
    put("agents/.draft.md")
    put("agents/old.md~")
    put("agents/.old.md.swp")
    found = await _by_name(roots, "agent")
    assert {name: one.relative_path for name, one in found.items()} == {
        "reviewer": "reviewer.md",
        "security": "security/security.md",
        "team": "team/lead.md",
    }
    assert found["reviewer"].description == "Reads."
    assert found["reviewer"].content is None


async def test_playbooks_go_by_their_name_without_the_long_extension(roots: Roots, put: Put) -> None:
    put("playbooks/tidy.playbook.yaml", "name: tidy\ndescription: Tidy a folder.\nprompt: |\n  Tidy {input}\n")
    put("playbooks/audit/other.playbook.yaml", "description: In a folder.\n")
    put("playbooks/short.yaml", "description: Short extension.\n")
    found = await _by_name(roots, "playbook")
    assert {name: (one.relative_path, one.description) for name, one in found.items()} == {
        "tidy": ("tidy.playbook.yaml", "Tidy a folder."),
        "audit": ("audit/other.playbook.yaml", "In a folder."),
        "short": ("short.yaml", "Short extension."),
    }


async def test_a_name_means_files_in_the_order_of_lionagi(roots: Roots, put: Put) -> None:
    files = DefinitionFiles(roots)

    async def path() -> str | None:
        found = await files.read_definition("agent", "n")
        return found.relative_path if found else None

    order = ["n.md", "n.playbook.yaml", "n.yaml", "n/n.md", "n/n.playbook.yaml", "n/n.yaml", "n/a.md", "n/a.yaml", "other/n.md"]
    for name in order:
        put(f"agents/{name}", "description: x\n")
    for name in order:
        assert await path() == name
        (roots.agents / name).unlink()
    assert await path() is None


async def test_what_is_listed_is_what_opens(roots: Roots, put: Put) -> None:
    for name in ("n.md", "n.yaml", "n/n.md", "m/z.md", "m/m.yaml", "k/a.yaml", "k/b.md"):
        put(f"agents/{name}", "description: x\n")
    files = DefinitionFiles(roots)
    for listed in await files.list_definitions():
        opened = await files.read_definition(listed.kind, listed.name)
        assert opened is not None
        assert (opened.relative_path, opened.sha256) == (listed.relative_path, listed.sha256)


async def test_an_agent_in_both_places_is_listed_once_with_the_trap_named(roots: Roots, put: Put) -> None:
    put("agents/n.md")
    put("agents/n/n.md")
    found = await _by_name(roots, "agent")
    assert list(found) == ["n"]
    assert found["n"].notes == ("there is n/n.md too, and li agent reads that one",)


async def test_skills_in_all_layouts(roots: Roots, put: Put) -> None:
    skill = "---\nname: {}\ndescription: About {}.\nallowed-tools: [Read]\n---\n"
    put("skills/bisect/SKILL.md", skill.format("bisect", "bisect"))
    put("skills/bisect/aaa.md", "not this one")
    put("skills/own/own.md", skill.format("own", "own"))
    put("skills/own/aaa.md", "not this one")
    put("skills/any/zeta.md", skill.format("other-name", "any"))
    put("skills/triage.md", skill.format("triage", "triage"))
    put("skills/both/SKILL.md", skill.format("both", "the folder"))
    put("skills/both.md", skill.format("both", "the file"))
    put("skills/bare/readme.txt")
    put("skills/bare.md", skill.format("bare", "bare"))
    put("skills/_shared/SKILL.md")
    put("skills/_notes.md")
    put("skills/empty/readme.txt")
    found = await _by_name(roots, "skill")
    assert {name: (one.relative_path, one.description) for name, one in found.items()} == {
        "any": ("any/zeta.md", "About any."),
        "bare": ("bare.md", "About bare."),
        "bisect": ("bisect/SKILL.md", "About bisect."),
        "both": ("both/SKILL.md", "About the folder."),
        "own": ("own/own.md", "About own."),
        "triage": ("triage.md", "About triage."),
    }
    assert found["any"].notes == ("its front matter says name: other-name",)
    assert await DefinitionFiles(roots).read_definition("skill", "_shared") is None


async def test_content_is_the_bytes_as_text_and_the_hash_is_of_the_bytes(roots: Roots, put: Put) -> None:
    raw = b"\xef\xbb\xbf---\r\ndescription: x\r\n---\r\n\xc3\x9cml\xc3\xa4ut\r\n"
    put("agents/a.md", raw)
    found = await DefinitionFiles(roots).read_definition("agent", "a")
    assert found is not None
    assert (found.content or "").encode() == raw
    assert found.sha256 == hashlib.sha256(raw).hexdigest()
    assert found.size_bytes == len(raw)
    assert found.modified_at == (roots.agents / "a.md").stat().st_mtime


async def test_one_bad_file_is_one_row_and_the_good_ones_are_all_there(roots: Roots, put: Put) -> None:
    for number in range(200):
        put(f"playbooks/good{number}.playbook.yaml", f"description: number {number}\n")
    bad = {
        "colon": "description: fix: it\n",
        "tab": "a:\n\tb: 1\n",
        "stars": "cron: * * * * *\n",
        "at": "model: @x\n",
        "two": "a: 1\n---\nb: 2\n",
        "comments": "# nothing\n",
        "zero": "",
        "latin": b"description: caf\xe9\n",
    }
    for name, content in bad.items():
        put(f"playbooks/{name}.playbook.yaml", content)
    (roots.playbooks / "folder.yaml").mkdir()
    found = await _by_name(roots, "playbook")
    assert {name for name, one in found.items() if one.error} == {*bad, "folder.yaml"}
    assert sum(one.error is None for one in found.values()) == 200
    assert found["latin"].error == "not UTF-8 text: byte 0xe9 at position 16"

    put("playbooks/colon.playbook.yaml", "description: mended\n")
    assert (await _by_name(roots, "playbook"))["colon"].error is None


async def test_a_file_that_is_not_utf8_has_no_content_but_a_hash(roots: Roots, put: Put) -> None:
    put("agents/a.md", b"\xff\xfe")
    found = await DefinitionFiles(roots).read_definition("agent", "a")
    assert found is not None
    assert found.content is None
    assert found.sha256 == hashlib.sha256(b"\xff\xfe").hexdigest()
    assert found.error


async def test_a_broken_file_still_shows_its_content(roots: Roots, put: Put) -> None:
    put("skills/broken/SKILL.md", "---\nname: [unclosed\n---\nText.\n")
    found = await DefinitionFiles(roots).read_definition("skill", "broken")
    assert found is not None
    assert found.content == "---\nname: [unclosed\n---\nText.\n"
    assert found.error == "line 2: while parsing a flow sequence: the end is missing"


async def test_large_files_are_not_read_whole_for_the_list(roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("agents/big.md", "playbooks/big.playbook.yaml"):
        path = put(name, "---\ndescription: long\n---\n" if name.endswith(".md") else "description: long\n")
        os.truncate(path, 200 * 1024 * 1024)  # sparse
    asked: list[int] = []

    def watched(path: str, limit: int) -> Blob:
        asked.append(limit)
        return read_file(path, limit)

    monkeypatch.setattr(definitions, "read_file", watched)
    agents, playbooks = await _by_name(roots, "agent"), await _by_name(roots, "playbook")
    assert max(asked) <= 64 * 1024
    assert (agents["big"].description, agents["big"].error, agents["big"].sha256) == ("long", None, None)
    assert agents["big"].notes == ("only its beginning was read: 200.0 MiB",)
    assert playbooks["big"].error == "too long to be read for the list: 200.0 MiB"

    opened = await DefinitionFiles(roots).read_definition("agent", "big")
    assert opened is not None
    assert (opened.content, opened.error) == (None, "too long to be shown: 200.0 MiB")


async def test_long_front_matter_is_bounded(roots: Roots, put: Put) -> None:
    put("agents/a.md", "---\n" + "key: [value]\n" * 800_000 + "---\n")
    put("agents/b.md", "---\n" + "".join(f"k{number}: [x y]\n" for number in range(60_000)) + "---\n")
    found = await _by_name(roots, "agent")
    assert (found["a"].error or "").endswith("is too long to be read")
    assert found["b"].error == "longer than 512 KiB; not parsed"


async def test_an_unchanged_root_is_listed_again_without_reading_a_file(
    roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        age(put(f"agents/a{number}.md", f"---\ndescription: {number}\n---\n"))
    files = DefinitionFiles(roots)
    first = await files.list_definitions()
    read: list[str] = []

    def watched(path: str, limit: int) -> Blob:
        read.append(os.path.basename(path))
        return read_file(path, limit)

    monkeypatch.setattr(definitions, "read_file", watched)
    assert await files.list_definitions() == first
    assert read == []
    put("agents/a7.md", "---\ndescription: edited\n---\n")
    assert "edited" in {one.description for one in await files.list_definitions()}
    assert read == ["a7.md"]


async def test_a_failure_to_read_is_not_kept(roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    age(put("agents/a.md", "---\ndescription: fine\n---\n"))
    files = DefinitionFiles(roots)

    def refused(path: str, limit: int) -> Blob:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(definitions, "read_file", refused)
        assert [one.error for one in await files.list_definitions()] == ["permission denied"]
    assert [one.error for one in await files.list_definitions()] == [None]


async def test_a_file_that_the_system_does_not_give_is_a_row_with_the_reason(roots: Roots, put: Put) -> None:
    put("agents/fine.md")
    (roots.agents / "odd.md").symlink_to("/proc/self/mem")  # a regular file, and no read of its start succeeds
    found = await _by_name(roots, "agent")
    assert found["odd"].error == "input/output error"
    assert found["fine"].error is None


async def test_a_file_that_goes_away_while_it_is_listed_is_no_row(
    roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("agents/stays.md")
    put("agents/goes.md")

    def racing(path: str, limit: int) -> Blob:
        (roots.agents / "goes.md").unlink(missing_ok=True)
        return read_file(path, limit)

    monkeypatch.setattr(definitions, "read_file", racing)
    assert [one.name for one in await DefinitionFiles(roots).list_definitions()] == ["stays"]
    assert await DefinitionFiles(roots).read_definition("agent", "goes") is None


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/b", "..", ".", "", "x" * 300, "a\0b", "\udcff"])
@pytest.mark.parametrize("kind", ["agent", "playbook", "skill"])
async def test_names_that_leave_the_root_find_nothing(roots: Roots, put: Put, kind: str, name: str) -> None:
    put(f"{kind}s/a/b.md")
    put("outside.md")
    assert await DefinitionFiles(roots).read_definition(kind, name) is None


async def test_kinds_without_files_find_nothing(roots: Roots) -> None:
    assert await DefinitionFiles(roots).read_definition("workflow", "x") is None


async def test_links_out_of_the_root_are_read_and_marked(roots: Roots, put: Put, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "linked.md").write_text("---\ndescription: elsewhere\n---\n")
    roots.agents.mkdir(parents=True)
    (roots.agents / "linked.md").symlink_to(checkout / "linked.md")
    (roots.agents / "folder").symlink_to(checkout)
    put("agents/real.md")
    (roots.agents / "alias.md").symlink_to("real.md")
    found = await _by_name(roots, "agent")
    assert found["linked"].description == found["folder"].description == "elsewhere"
    assert found["linked"].notes[0] == f"a link out of the root, to {os.path.realpath(checkout / 'linked.md')}"
    assert found["folder"].notes[0] == f"a link out of the root, to {os.path.realpath(checkout)}"
    assert found["alias"].notes == ()
    opened = await DefinitionFiles(roots).read_definition("agent", "linked")
    assert opened is not None
    assert opened.content == "---\ndescription: elsewhere\n---\n"


async def test_a_root_that_is_a_link_is_a_root(roots: Roots, put: Put, tmp_path: Path) -> None:
    put("agents/a.md")
    roots.agents.rename(tmp_path / "moved")
    roots.agents.symlink_to(tmp_path / "moved")
    found = await _by_name(roots, "agent")
    assert found["a"].error is None
    assert found["a"].notes == ()


async def test_the_weird_root_lists_each_oddity_once_with_its_reason(weird_root: Roots) -> None:
    outside = f"{weird_root.agents}-outside"
    found = await DefinitionFiles(weird_root).list_definitions()
    rows = {one.name: (one.error, *one.notes) for one in found}
    assert len(rows) == len(found)
    if os.geteuid() != 0:
        assert rows.pop("closed") == ("permission denied",)
        assert rows.pop("unreadable") == ("permission denied",)
    else:  # root reads them; PermissionError is provoked in test_a_failure_to_read_is_not_kept
        assert rows.pop("closed") == (None,)
        assert rows.pop("unreadable") == (None,)
    assert rows == {
        "good": (None,),
        "self": ("a link that leads back to itself",),
        "dangling": ("a link to nothing",),
        "link-out": (None, f"a link out of the root, to {os.path.realpath(outside)}"),
        "file-out": (None, f"a link out of the root, to {os.path.realpath(outside)}/outsider.md"),
        "a": ("a pipe; not opened",),
        "b": ("a socket; not opened",),
        "folder.yaml": ("a folder, not a file",),
        "empty": ("the file is empty",),
        "new\nline": (None,),
        "bad\\xffbyte": ("the name is not valid UTF-8",),
        " leading space": (None,),
        "-rf": (None,),
        "[bold]x": ("a name must not contain '[' ']'",),
    }


async def test_every_oddity_of_the_weird_root_opens_to_the_same_reason(weird_root: Roots) -> None:
    files = DefinitionFiles(weird_root)
    for listed in await files.list_definitions():
        opened = await files.read_definition(listed.kind, listed.name)
        assert opened is not None, listed.name
        assert opened.error == listed.error
        assert (opened.content is None) == (listed.error is not None and listed.name != "empty")


async def test_skills_and_playbooks_survive_the_weird_root_too(weird_root: Roots) -> None:
    odd = Roots(agents=weird_root.skills, playbooks=weird_root.agents, skills=weird_root.agents, shows=weird_root.shows)
    found = await DefinitionFiles(odd).list_definitions()
    skills = {one.name: one.error for one in found if one.kind == "skill"}
    assert skills.pop("closed", "permission denied") == "permission denied"  # root finds no skill in it
    assert skills == {"good": None, "file-out": None, "link-out": None}
    assert {"a", "b", "self", "good"} <= {one.name for one in found if one.kind == "playbook"}


async def test_names_survive_as_valid_text(weird_root: Roots) -> None:
    for one in await DefinitionFiles(weird_root).list_definitions():
        one.name.encode()
        one.relative_path.encode()

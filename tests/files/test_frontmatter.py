from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.files.frontmatter import find_front_matter, markdown_head, unify, yaml_head

DATA = Path(__file__).parents[1] / "data"
PLAIN = '---\nname: desk-helper\ndescription: "Answers simple questions"\n---\nBody.\n'


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "\ufeff" + PLAIN.replace("\n", "\r\n"),
        "\n\n" + PLAIN,
        " \t\n" + PLAIN,
        PLAIN.replace("---\n", "--- \n"),
        PLAIN.replace("---\n", "---\t \n"),
        PLAIN.removesuffix("\nBody.\n"),
    ],
)
def test_marks_line_ends_and_blanks_change_nothing(text: str) -> None:
    head = markdown_head(text)
    assert (head.name, head.description, head.error, head.notes) == ("desk-helper", "Answers simple questions", None, ())


def test_the_file_with_mark_and_crlf_reads_like_the_plain_one() -> None:
    head = markdown_head((DATA / "agent-bom-crlf.md").read_bytes().decode())
    assert (head.name, head.description, head.error) == ("desk-helper", "Answers simple questions", None)


def test_a_missing_closing_fence_is_a_defect_with_its_line() -> None:
    head = markdown_head("\n---\nname: x\n\n# Title\n")
    assert head.error == "line 2: the front matter that begins here is not closed with ---"


def test_no_front_matter_is_remarked_but_no_defect() -> None:
    for text in ("# Title\n", "----\nrule\n----\n", "text\n---\nname: x\n---\n"):
        head = markdown_head(text)
        assert (head.error, head.notes) == (None, ("no front matter: nothing is set",))
    assert markdown_head("---\n---\nBody\n").notes == ("the front matter is empty: nothing is set",)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", " \r\n"])
def test_an_empty_file_is_a_defect(text: str) -> None:
    assert markdown_head(text).error == "the file is empty"
    assert yaml_head(text).error == "the file is empty"


def test_broken_front_matter_names_the_line_of_the_file() -> None:
    assert (markdown_head("\n---\nname: x\ndescription: fix: it\n---\n").error or "").startswith("line 4: ")


def test_a_playbook_with_only_comments_is_a_defect_and_one_with_only_steps_is_not() -> None:
    assert yaml_head("# to be written\n").error == "there is nothing but comments in it"
    assert yaml_head("steps:\n  plan:\n    prompt: x\n").error is None


def test_misspelt_keys_do_not_keep_a_playbook_from_being_listed() -> None:
    head = yaml_head((DATA / "playbook-typo.yaml").read_text())
    assert (head.description, head.error) == ("Collect the notes of the week and write one page", None)


def test_descriptions_are_bounded_and_trimmed() -> None:
    assert len(yaml_head(f"description: '{'x' * 5_000}'\n").description or "") == 2_000
    assert yaml_head("description: >-\n  folded\n  text\n").description == "folded text"
    assert yaml_head("description:\n").description is None


def test_the_start_of_a_long_file_may_hold_the_whole_block_or_not() -> None:
    assert markdown_head(PLAIN, complete=False).description == "Answers simple questions"
    assert (markdown_head("---\nname: x\n", complete=False).error or "").endswith("is too long to be read")


def test_the_block_is_found_with_its_place() -> None:
    block = find_front_matter(unify("\r\n---\r\na: 1\r\n--- \r\nrest"))
    assert block is not None
    assert (block.yaml, block.first_line, block.closed) == ("a: 1\n", 3, True)

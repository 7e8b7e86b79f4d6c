from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from studio_tui.files.yaml_facts import MAX_CHARACTERS, read_yaml
from studio_tui.files.yaml_plain import plain_values

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("description: fix: it\n", "line 1: mapping values are not allowed here (a value with ': ' in it needs quotes)"),
        ("a: 1\nb:\n\tc: 2\n", "line 3: found character '\\t' that cannot start any token (indent with spaces, not tabs)"),
        ("a: 1\nmodel: @x\n", "line 2: found character '@' that cannot start any token"),
        ("cron: * * * * *\n", "line 1: expected alphabetic or numeric character, but found ' '"),
        ("a: 1\n---\nb: 2\n", "line 2: but found another document (only one document is allowed)"),
        ("a: 1\nb: [open\n", "line 2: while parsing a flow sequence: the end is missing"),
        ("a: 1\nb: 'open\n", "line 2: while scanning a quoted scalar: the end is missing"),
        ("- a\n- b\n", "line 1: not a mapping of keys to values"),
        ("just words\n", "line 1: not a mapping of keys to values"),
        ("a: 1\na: 2\n", "line 2: the key 'a' is written twice (first in line 1)"),
        ("{a: 1, a: 2}\n", "line 1: the key 'a' is written twice (first in line 1)"),
        ("a: 1\nbad: 2026-02-30\n", "line 2: there is no date 2026-02-30"),
        ("a: " + "[" * 5_000, "nested too deep to be read"),
        ("a: \x07\n", "special characters are not allowed"),
        ("%YAML 1.9\n---\na: 1\n", "version minor part"),
        ("a: x\n" * MAX_CHARACTERS, "longer than 512 KiB; not parsed"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, error: str) -> None:
    assert error in (read_yaml(text).error or "")


def test_lines_count_from_where_the_block_begins() -> None:
    assert (read_yaml("a: 1\na: 2\n", first_line=4).error or "").startswith("line 5: ")


def test_both_repeated_keys_are_reported_and_a_merged_one_is_not() -> None:
    facts = read_yaml((DATA / "playbook-dup-keys.yaml").read_text())
    assert (facts.error or "").split("; ") == [
        "line 16: the key 'model' is written twice (first in line 14)",
        "line 17: the key 'prompt' is written twice (first in line 7)",
    ]


def test_a_long_row_of_faults_is_cut() -> None:
    assert (read_yaml("a: 1\n" * 10).error or "").endswith("; and 6 more")


def test_values_are_given_as_written() -> None:
    text = (DATA / "playbook-lossy-scalars.yaml").read_text()
    assert read_yaml(text).error == "line 18: there is no date 2026-02-30"
    facts = read_yaml(text.replace("2026-02-30", "2026-02-28"))
    assert facts.error is None
    written = {"at": "10:00", "version": "1.10", "country": "NO", "mode": "0755", "id": "1e5", "big": "1_000", "hex": "0x1F"}
    assert {key: facts.values[key] for key in written} == written
    assert facts.values["nothing"] is None
    assert facts.values["empty"] is None
    assert facts.values["single"] == "it's"
    assert facts.values["cut"] == "fix"


def test_a_value_that_ends_at_a_hash_is_remarked_and_a_comment_is_not() -> None:
    text = "a: fix #12 now\nb: low   # a comment\nc: 'x' #y\nprompt: |\n  fix: this #13 too\nd: [1]\n"
    assert read_yaml(text).notes == ("line 1: the value ends before '#12 now'; quote it if that belongs to it",)


def test_nothing_but_comments_is_empty() -> None:
    assert read_yaml("# only\n").empty
    assert read_yaml("# only\n").error is None


def test_aliases_and_unknown_tags_do_no_harm() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert read_yaml(bomb).error is None
    assert read_yaml("a: !!python/object/apply:os.system [false]\n").error is None


def test_an_anchor_used_twice_writes_nothing_to_the_screen(recwarn: pytest.WarningsRecorder) -> None:
    assert read_yaml("a: &x 1\nb: &x 2\nc: *x\n").error is None
    assert not recwarn.list


# --- the way around the parser ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "name: reviewer\ndescription: Reads a change and lists what is wrong with it.\nyolo: true\ntimeout: 3600\n",
        "description: \"quoted: yes\"\nname: 'it'\nlist: [a, b]\n\n# note\nempty:\n",
        "prompt: |\n  First: line\n\n    deeper #1\n  last\nname: x\n",
    ],
)
def test_ordinary_files_need_no_parser(text: str) -> None:
    assert plain_values(text) is not None


_PIECES = st.sampled_from(
    (
        *"ab:# \n|>'\"[]12-\t\u2028\x85é&*!%@`{}?\\",
        "name",
        "x-y",
        ": ",
        "  ",
        "\n  ",
        "\n\n",
        " #c",
        "|-",
        ", ",
        "null",
        "true",
        "- ",
        "---",
    )
)
_VALUES = st.one_of(
    st.sampled_from(
        [
            "",
            "word",
            "two words",
            "a:b",
            "a#b",
            '"q: x"',
            "'q #x'",
            "[a, b]",
            "12",
            "true",
            "null",
            "|\n  x: y\n\n    z",
            "|-\n x",
        ]
    ),
    st.builds("{}{}".format, st.sampled_from(["", "w", "w "]), st.lists(_PIECES, max_size=2).map("".join)),
)
_FLAT = st.dictionaries(st.sampled_from(["a", "b", "c-d", "e_f", "description", "name"]), _VALUES, min_size=1, max_size=4).map(
    lambda pairs: "\n".join(f"{key}: {value}" for key, value in pairs.items())
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(_FLAT, st.lists(_PIECES, max_size=30).map("".join)))
def test_the_way_around_says_what_the_parser_says(text: str) -> None:
    values = plain_values(text)
    if values is None:
        return
    read = YAML(typ="base", pure=True).load(text)
    scalars = {key: value for key, value in read.items() if not isinstance(value, list)}
    for key, value in values.items():
        assert scalars[key] == (value or "") or (value is None and scalars[key] in {"null", None})


@settings(deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_no_text_raises(text: str) -> None:
    read_yaml(text)

"""What is said in the demo's transcripts: kinds of messages (2 instruction, 3 answer, 4 call, 5 result) with their contents."""

from __future__ import annotations

from typing import Any, Final

Talk = tuple[tuple[int, dict[str, Any]], ...]

_STEPS: Final = (
    ("read_file", {"path": "src/router/table.py"}, "class Table:\n    def __init__(self):\n        self._routes = {}"),
    ("grep", {"pattern": "TODO", "path": "src"}, ["src/router/match.py:41: # TODO: wildcards", "src/cli/main.py:12: # TODO"]),
    ("bash", {"command": "pytest -q tests/router"}, "........F.......\n1 failed, 15 passed in 2.31s"),
    ("edit_file", {"path": "src/router/match.py", "line": 41, "text": "if pattern == '*':\n    return True"}, {"changed": 1}),
    ("bash", {"command": "git diff --stat"}, " src/router/match.py | 6 +++++-\n 1 file changed, 5 insertions(+), 1 deletion(-)"),
)  # fmt: skip
_THOUGHTS: Final = (
    "The table is read once and never changed after, so it can be frozen.",
    "One test fails: `test_wildcard` expects a match for an empty segment. I look at the matcher next.",
    "The wildcard was compared literally. I change the comparison and run the tests again.",
    "All tests pass now. What is left:\n\n1. the same fault in `split()`\n2. a note in the changelog",
    "I kept the public names. `Table.add` is slower by about 2 %, which the benchmark confirms, and lookups are faster by 30 %.",
)


def short_talk(topic: str, length: int) -> Talk:
    """A task about a topic and ``length`` messages of work on it."""
    return (
        (2, {"instruction": f"Look into {topic}. Say what you find and what should be done.", "guidance": "Be brief."}),
        *_work(length - 2),
        (3, {"assistant_response": f"Done with {topic}. Two things were wrong and are mended; the tests pass."}),
    )


def long_talk() -> Talk:
    """A transcript of several hundred messages, with a failing call and a wide table in it."""
    table = "| route | before | after |\n|---|---|---|\n" + "\n".join(
        f"| /{name} | {40 + n} µs | {28 + n} µs |" for n, name in enumerate(("", "users", "orders", "search"))
    )
    return (
        (2, {"instruction": "Rewrite the router so that lookups no longer walk the whole table.\n\nKeep the public names.",
             "prompt_context": ["src/router", "tests/router"]}),
        (3, {"assistant_response": "I begin with the table and its tests."}),
        (4, {"function": "bash", "arguments": {"command": "cat docs/routing.md"}}),
        (5, {"function": "bash", "arguments": {"command": "cat docs/routing.md"}, "output": None,
             "error": "cat: docs/routing.md: No such file or directory"}),
        *_work(280),
        (2, {"instruction": "How much faster is it?"}),
        (3, {"assistant_response": f"Measured on the sample routes:\n\n{table}"}),
    )  # fmt: skip


def _work(length: int) -> Talk:
    """Thoughts with calls and their results in between."""
    said: list[tuple[int, dict[str, Any]]] = []
    turn = 0
    while len(said) < length:
        function, arguments, output = _STEPS[turn % len(_STEPS)]
        said.append((3, {"assistant_response": _THOUGHTS[turn % len(_THOUGHTS)]}))
        said.append((4, {"function": function, "arguments": arguments}))
        said.append((5, {"function": function, "arguments": arguments, "output": output}))
        turn += 1
    return tuple(said)

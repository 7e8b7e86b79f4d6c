"""The source of the screens is read: text from data takes no other way to a widget than the literal-text gate."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import studio_tui.tui

SOURCE = Path(studio_tui.tui.__file__).parent
GATE = frozenset({"plain", "styled", "block", "line", "cut", "clean", "clean_block", "visible"})
SINKS = frozenset(
    {
        *("Static", "Label", "Button", "Option", "OptionList", "Select", "Tab", "TabPane", "Collapsible", "Tree", "Markdown"),
        *("MarkdownViewer", "TextArea", "Log", "RichLog", "Digits", "notify", "add_row", "add_option", "add_column"),
        *("write", "write_line", "load_text", "Hit", "DiscoveryHit", "from_markup", "Text", "Segment"),
    }
)
ATTRIBUTES = frozenset({"border_title", "border_subtitle", "tooltip", "title", "sub_title"})
MARKUP = frozenset({"from_markup", "escape", "render_markup"})
SEGMENTS = frozenset({"columns.py"})
"""Where segments are made: from texts that ``cut`` has cleaned."""
OUTPUT = frozenset({"terminal.py", "driver.py"})
"""Where lines are printed after the console has ended, and where whole frames are sent."""


def _files() -> list[Path]:
    return [file for file in SOURCE.rglob("*.py") if file.name != "safe_text.py"]


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def _is_safe(value: ast.expr) -> bool:
    """A constant, or a call of the gate."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Starred):
        return _is_safe(value.value)
    return isinstance(value, ast.Call) and _name(value) in GATE


def faults(source: str, file: str = "some.py") -> Iterator[str]:
    """Every place of a source where text that is neither constant nor gated goes into a widget."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = _name(node)
            if name in MARKUP:
                yield f"{file}:{node.lineno} {name} reads markup"
            if (
                name in SINKS
                and not (name == "Segment" and file in SEGMENTS)
                and not (name.startswith("write") and file in OUTPUT)
            ):
                first = next(iter(node.args), None)
                texts = [first, *(word.value for word in node.keywords if word.arg in ("text", "label", "prompt", "message"))]
                yield from (f"{file}:{node.lineno} {name}" for text in texts if text is not None and not _is_safe(text))
            for word in node.keywords:
                if word.arg in ATTRIBUTES and isinstance(word.value, ast.JoinedStr | ast.BinOp):
                    yield f"{file}:{node.lineno} {word.arg}="
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr in ATTRIBUTES and node.value and not _is_safe(node.value):
                    yield f"{file}:{node.lineno} .{target.attr} ="


@pytest.mark.parametrize("file", _files(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_text_goes_through_the_gate(file: Path) -> None:
    assert list(faults(file.read_text(), file.name)) == []


@pytest.mark.parametrize(
    "source",
    [
        "Static(f'run {name}')",
        "Label('run ' + name)",
        "self.notify(run.name)",
        "app.notify(message=text)",
        "pane.border_title = name",
        "table.add_row(run.name)",
        "Option(name)",
        "widget.tooltip = f'{x}'",
        "Content.from_markup('[b]x')",
        "Widget(tooltip=f'{x}')",
        "TextArea(text)",
        "area.load_text(text)",
        "driver.write(text)",
        "Segment(text, style)",
        "Text(name)",
    ],
)
def test_the_lint_sees_what_it_should(source: str) -> None:
    assert list(faults(source))


@pytest.mark.parametrize(
    "source", ["Static('runs')", "Static(plain(name))", "self.notify(line(text), markup=False)", "Label(styled((a, b)))"]
)
def test_the_lint_lets_gated_text_through(source: str) -> None:
    assert not list(faults(source))

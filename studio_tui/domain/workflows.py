"""The rules of a workflow's graph (ADR-0077 D3; lionagi 0.36, workflow definitions)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

NODE_KINDS: Final = ("input", "chat", "parse", "fanout", "engine")
MAX_NODES: Final = 200
MAX_EDGES: Final = 400
_REMOVED: Final = "gate"


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One broken rule: where in the graph, and a sentence with what is allowed."""

    path: tuple[str | int, ...]
    message: str


def spec_faults(spec: Mapping[str, object]) -> tuple[SpecFault, ...]:
    """Every broken rule of a graph, in its order; empty for a sound one."""
    return tuple(_faults(spec))


def _faults(spec: Mapping[str, object]) -> Iterator[SpecFault]:
    if spec.get("version") != 1 or isinstance(spec.get("version"), bool):
        yield SpecFault(("version",), "must be 1")
    if "base_dir" in spec:
        yield SpecFault(("base_dir",), "belongs to a run of the workflow, not to the workflow")
    nodes, edges = spec.get("nodes"), spec.get("edges")
    yield from _list_faults("nodes", nodes, MAX_NODES)
    yield from _list_faults("edges", edges, MAX_EDGES)
    known = _ids(nodes)
    for place, node in enumerate(nodes if isinstance(nodes, list | tuple) else ()):
        yield from _node_faults(("nodes", place), node)
    yield from _repeated("nodes", nodes)
    for place, edge in enumerate(edges if isinstance(edges, list | tuple) else ()):
        yield from _edge_faults(("edges", place), edge, known)
    yield from _repeated("edges", edges)
    for name in ("inputs", "outputs"):
        names = spec.get(name, [])
        if not isinstance(names, list | tuple) or not all(isinstance(item, str) for item in names):
            yield SpecFault((name,), "must be a list of texts")


def _list_faults(name: str, found: object, limit: int) -> Iterator[SpecFault]:
    if not isinstance(found, list | tuple):
        yield SpecFault((name,), "must be a list")
    elif len(found) > limit:
        yield SpecFault((name,), f"holds {len(found)}; at most {limit} are allowed")


def _node_faults(path: tuple[str | int, ...], node: object) -> Iterator[SpecFault]:
    if not isinstance(node, Mapping):
        yield SpecFault(path, "must be an object")
        return
    if not _is_name(node.get("id")):
        yield SpecFault((*path, "id"), "must be a text that is not empty")
    kind = node.get("kind")
    if kind == _REMOVED:
        yield SpecFault((*path, "kind"), "gate nodes were removed; put the condition on an edge instead")
    elif kind not in NODE_KINDS:
        yield SpecFault((*path, "kind"), f"must be one of {', '.join(NODE_KINDS)}")
    place = node.get("pos")
    if not isinstance(place, Mapping) or not all(_is_number(place.get(axis)) for axis in ("x", "y")):
        yield SpecFault((*path, "pos"), "must hold the numbers x and y")
    if kind == "chat":
        yield from _chat_faults((*path, "config"), node.get("config"))


def _chat_faults(path: tuple[str | int, ...], config: object) -> Iterator[SpecFault]:
    settings = config if isinstance(config, Mapping) else {}
    if not isinstance(settings.get("prompt"), str):
        yield SpecFault((*path, "prompt"), "must be a text")
    model = settings.get("model")
    if model is None:
        return
    provider, slash, name = model.partition("/") if isinstance(model, str) else ("", "", "")
    if not (provider and slash and name):
        yield SpecFault((*path, "model"), "must name its provider, such as claude_code/haiku")


def _edge_faults(path: tuple[str | int, ...], edge: object, known: frozenset[str]) -> Iterator[SpecFault]:
    if not isinstance(edge, Mapping):
        yield SpecFault(path, "must be an object")
        return
    if not _is_name(edge.get("id")):
        yield SpecFault((*path, "id"), "must be a text that is not empty")
    for end in ("from", "to"):
        if not isinstance(edge.get(end), str) or edge.get(end) not in known:
            yield SpecFault((*path, end), "must be the id of a node")
    if edge.get("condition") is not None and not _is_name(edge.get("condition")):
        yield SpecFault((*path, "condition"), "must be a text that is not empty")


def _repeated(name: str, found: object) -> Iterator[SpecFault]:
    seen: set[str] = set()
    for place, entry in enumerate(found if isinstance(found, list | tuple) else ()):
        identifier = entry.get("id") if isinstance(entry, Mapping) else None
        if isinstance(identifier, str):
            if identifier in seen:
                yield SpecFault((name, place, "id"), "is the id of another one too")
            seen.add(identifier)


def _ids(nodes: object) -> frozenset[str]:
    entries: Sequence[object] = nodes if isinstance(nodes, list | tuple) else ()
    found = (entry.get("id") for entry in entries if isinstance(entry, Mapping))
    return frozenset(identifier for identifier in found if isinstance(identifier, str))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

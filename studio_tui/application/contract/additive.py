"""Whether a contract may take the place of another within one major version: what programs rely on stays (ADR-0078 D5).

Of what goes in, everything that was accepted must still be accepted. Of what comes out, every field must still be there, with
the type that it had. New operations, new optional fields of what goes in, and new fields of what comes out are additions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]

_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_INPUTS: Final = "inputs.json"
_OUTPUTS: Final = ("results.json", "errors.json", "cli.json")


def breaks(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Every change from one set of documents to another that is no addition, in words."""
    found = list(_operation_breaks(old["operations.json"], new["operations.json"]))
    for name in (_INPUTS, *_OUTPUTS):
        found += _Comparison(name == _INPUTS, old[name], new[name]).all()
    return tuple(found)


def _operation_breaks(old: Schema, new: Schema) -> Iterator[str]:
    now = {operation["name"]: operation for operation in new["operations"]}
    for before in old["operations"]:
        name = before["name"]
        if name not in now:
            yield f"operation {name} is gone"
            continue
        after = now[name]
        known = {parameter["name"] for parameter in before["parameters"]}
        for parameter in after["parameters"]:
            if parameter["required"] and parameter["name"] not in known:
                yield f"operation {name} needs a new parameter {parameter['name']}"
        for parameter in known - {parameter["name"] for parameter in after["parameters"]}:
            yield f"operation {name} takes no {parameter} any more"
        if (before["returns_something"], before["waits"]) != (after["returns_something"], after["waits"]):
            yield f"operation {name} is called or answers in another way"


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two documents of schemas, side by side."""

    goes_in: bool
    old: Schema
    new: Schema

    def all(self) -> Iterator[str]:
        """Every break, the names of shared schemas among them."""
        for part in ("schemas", "$defs"):
            for name, before in self.old[part].items():
                if name not in self.new[part]:
                    yield f"{name} is gone"
                else:
                    yield from self.compare(before, self.new[part][name], name)

    def compare(self, before: Schema, after: Schema, at: str) -> Iterator[str]:
        """Breaks between two schemas that stand in the same place."""
        options = after.get("anyOf", ()) if self.goes_in and "anyOf" not in before else ()
        if any(not list(self.compare(before, option, at)) for option in options):  # more is taken than before
            return
        for key in ("$ref", "type", "const", "format", "pattern"):
            if before.get(key) != after.get(key):
                yield f"{at}: {key} was {before.get(key)}, is {after.get(key)}"
        yield from self._words(before, after, at)
        if self.goes_in:
            yield from _narrower(before, after, at)
        yield from self._alternatives(before, after, at)
        yield from self._fields(before, after, at)
        for key in ("items", "additionalProperties"):
            if isinstance(before.get(key), Mapping) and isinstance(after.get(key), Mapping):
                yield from self.compare(before[key], after[key], f"{at}[]")
            elif before.get(key, True) != after.get(key, True):
                yield f"{at}: {key} changed"

    def _words(self, before: Schema, after: Schema, at: str) -> Iterator[str]:
        """Closed lists of words: none may go, and a list may be neither closed for callers nor opened for readers."""
        old, new = before.get("enum"), after.get("enum")
        if old is not None and new is not None:
            yield from (f"{at}: {value!r} is not allowed any more" for value in old if value not in new)
        elif self.goes_in and new is not None:
            yield f"{at}: only some values are taken now"
        elif not self.goes_in and old is not None:
            yield f"{at}: any value may come now"

    def _fields(self, before: Schema, after: Schema, at: str) -> Iterator[str]:
        fields, now = before.get("properties", {}), after.get("properties", {})
        for name, schema in fields.items():
            if name not in now:
                yield f"{at}.{name} is gone"
            else:
                yield from self.compare(schema, now[name], f"{at}.{name}")
        needed, needed_now = set(before.get("required", ())), set(after.get("required", ()))
        if self.goes_in:
            yield from (f"{at}.{name} has become required" for name in sorted(needed_now - needed))
        else:
            yield from (f"{at}.{name} may be left out now" for name in sorted((needed & set(now)) - needed_now))

    def _alternatives(self, before: Schema, after: Schema, at: str) -> Iterator[str]:
        for key in ("anyOf", "oneOf", "prefixItems"):
            options, now = before.get(key, []), after.get(key, [])
            for number, option in enumerate(options):
                if key == "prefixItems" or len(options) == len(now):
                    if number < len(now):
                        yield from self.compare(option, now[number], f"{at}({number + 1})")
                elif option not in now:
                    yield f"{at}: one of its alternatives is gone"
            if len(now) < len(options) or (len(now) > len(options) and (not self.goes_in or not options)):
                yield f"{at}: it has {len(now)} alternatives, and had {len(options)}"


def _narrower(before: Schema, after: Schema, at: str) -> Iterator[str]:
    """Limits of what goes in that are tighter than they were, and defaults that mean something else now."""
    for keys, sign in ((_LOWER, 1), (_UPPER, -1)):
        for key in keys:
            if key in after and (key not in before or sign * after[key] > sign * before[key]):
                yield f"{at}: {key} is {after[key]} now"
    if "default" in before and before["default"] != after.get("default"):
        yield f"{at}: what is assumed when it is left out changed"

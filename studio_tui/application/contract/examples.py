"""A plain example document for a JSON schema: every field given, each value the first that the schema allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_INSTANT: Final = 1_796_000_000.0
_DEEPEST: Final = 8

Schema = Mapping[str, Any]


def example(schema: Schema, definitions: Mapping[str, Schema], name: str = "value", depth: int = 0) -> Any:
    """An example of ``schema``; texts say the name of their field."""
    if "$ref" in schema:
        return example(definitions[schema["$ref"].rpartition("/")[2]], definitions, name, depth + 1)
    for key in ("const", "enum"):
        if key in schema:
            return schema[key] if key == "const" else schema[key][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return example(_first(schema[key]), definitions, name, depth)
    return _of_type(schema, definitions, name, depth)


def _first(options: list[Schema]) -> Schema:
    """The first alternative that says something."""
    return next((option for option in options if option.get("type") != "null"), options[0])


def _of_type(schema: Schema, definitions: Mapping[str, Schema], name: str, depth: int) -> Any:
    match schema.get("type"):
        case "object":
            return _object(schema, definitions, depth)
        case "array":
            return _array(schema, definitions, name, depth)
        case "string":
            return "AA==" if schema.get("format") in ("base64", "base64url") else name[: schema.get("maxLength")]
        case "integer":
            return int(_number(schema, 1))
        case "number":
            return _INSTANT if name == "at" or name.endswith("_at") else float(_number(schema, 1.5))
        case "boolean":
            return True
        case _:
            return None


def _object(schema: Schema, definitions: Mapping[str, Schema], depth: int) -> dict[str, Any]:
    if "properties" in schema:
        return {key: example(part, definitions, key, depth) for key, part in schema["properties"].items()}
    inner = schema.get("additionalProperties")
    return {"name": example(inner, definitions, "name", depth)} if isinstance(inner, dict) and depth < _DEEPEST else {}


def _array(schema: Schema, definitions: Mapping[str, Schema], name: str, depth: int) -> list[Any]:
    if "prefixItems" in schema:
        return [example(item, definitions, name, depth) for item in schema["prefixItems"]]
    inner = schema.get("items")
    return [example(inner, definitions, name, depth)] if isinstance(inner, dict) and depth < _DEEPEST else []


def _number(schema: Schema, plain: float) -> float:
    least = schema.get("minimum", schema.get("exclusiveMinimum", plain - 1) + 1)
    return float(min(max(plain, least), schema.get("maximum", plain if plain > least else least)))

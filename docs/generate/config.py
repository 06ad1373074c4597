"""``config.md``: every key of the config, from the JSON Schema that the loader's model gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from generate.markdown import code, inline, table
from localdb_core.config.schema import config_schema

Json = dict[str, Any]  # Any: JSON values

_INTRO = """\
# Config

The config is a YAML file. `localdb init` writes it with every key, its default and a comment, and
prints where it is; `--config FILE` or the variable `LOCALDB_CONFIG` names another one. A file must
say `version: 1`; any other key that is left out has its default. Unknown keys are errors. Editors
can use the [JSON Schema](config.schema.json); `localdb internal print-schema --with-plugins` prints
one that knows the settings of your plugins.

Settings of a plugin stand in `plugins.config.NAME`; `localdb plugin info NAME` lists them.

"""


def every_key() -> Iterator[tuple[str, Json]]:
    """``search.ranker`` and what the schema says of it, in the order of the file."""
    definitions = config_schema()["$defs"]
    yield from _below("", definitions["version1"], definitions)


def _below(prefix: str, schema: Json, definitions: Json) -> Iterator[tuple[str, Json]]:
    for name, value in schema["properties"].items():
        key = f"{prefix}{name}"
        yield key, value
        inner = _resolved(value, definitions)
        if "properties" in inner:
            yield from _below(f"{key}.", inner, definitions)
        elif inner.get("type") == "array" and "$ref" in inner["items"]:
            yield from _below(f"{key}[].", _resolved(inner["items"], definitions), definitions)


def _resolved(schema: Json, definitions: Json) -> Json:
    """What a reference means; for a value that may be null, the other possibility."""
    for part in (schema, *schema.get("anyOf", ())):
        if "$ref" in part:
            return _resolved(definitions[part["$ref"].rpartition("/")[2]], definitions)
        if part.get("type") in ("array", "object"):
            found: Json = part
            return found
    return schema


def page() -> str:
    """A section for each part of the file, a row for each key."""
    sections: dict[str, list[tuple[str, Json]]] = {}
    for key, schema in every_key():
        top = key.partition(".")[0].removesuffix("[]")
        sections.setdefault(top, []).append((key, schema))
    definitions = config_schema()["$defs"]
    text = _INTRO
    for top, rows in sections.items():
        _, first = rows[0]
        said = first.get("description") or _resolved(first, definitions).get("description", "")
        text += f"## {top}\n\n{inline(said)}\n\n"
        # A section by itself has nothing to set.
        told = rows if len(rows) == 1 else rows[1:]
        cells = [
            (code(key), _type(schema), _default(schema), inline(schema.get("description", "")))
            for key, schema in told
            if "properties" not in _resolved(schema, definitions)
        ]
        text += table(("Key", "Type", "Default", ""), cells)
    return text


def _type(schema: Json) -> str:
    """In words, with the limits."""
    options = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if options:
        return _type(options[0])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        return "list of sections" if "$ref" in schema["items"] else "list of texts"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    kind = words.get(schema.get("type", ""), "mapping")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind}, {low} to {high}"
    return kind if low is None else f"{kind}, at least {low}"


def _default(schema: Json) -> str:
    """As it is written in the file; null, nothing and left out are the same."""
    if "default" in schema:
        return code(json.dumps(schema["default"]))
    return ""

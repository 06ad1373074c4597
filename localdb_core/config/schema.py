"""The JSON Schema of the config, made from the model that the loader uses (L-CFG-16)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from localdb_core.config.load import may_be_empty
from localdb_core.config.model import Config, Section

Json = dict[str, Any]  # Any: JSON values

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TITLE: Final = "Configuration of localdb"
_TEMPLATE: Final = "#/$defs/{model}"
# Every version of the file and its model; the loader knows the same ones.
_VERSIONS: Final[dict[int, type[Section]]] = {1: Config}


def config_schema(sections: Mapping[str, type[BaseModel]] | None = None) -> Json:
    """The schema; ``sections`` adds what each of these plugins allows in its own."""
    shared: Json = {}
    rules: list[Json] = []
    for version, model in _VERSIONS.items():
        schema = model.model_json_schema(ref_template=_TEMPLATE, schema_generator=_Generator)
        shared |= schema.pop("$defs", {})
        shared[f"version{version}"] = schema | {"required": ["version"]}
        rules.append(
            {
                "if": {"properties": {"version": {"const": version}}},
                "then": {"$ref": f"#/$defs/version{version}"},
            }
        )
    for plugin, settings in (sections or {}).items():
        # A definition of its own, below which the plugin's own definitions stay.
        key = f"plugin {plugin}"
        shared[key] = settings.model_json_schema(ref_template=f"#/$defs/{key}/$defs/{{model}}")
        known = shared["Plugins"]["properties"]["config"].setdefault("properties", {})
        known[plugin] = {"$ref": f"#/$defs/{key}"}
    return {
        "$schema": DIALECT,
        "title": TITLE,
        "type": "object",
        "required": ["version"],
        "properties": {"version": {"enum": list(_VERSIONS)}},
        "allOf": rules,
        "$defs": dict(sorted(shared.items())),
    }


def schema_text(sections: Mapping[str, type[BaseModel]] | None = None) -> str:
    """The schema as it is printed and kept in the documentation."""
    return json.dumps(config_schema(sections), indent=2, ensure_ascii=False) + "\n"


class _Generator(GenerateJsonSchema):
    """Without titles, which only repeat the keys; descriptions are the first paragraph."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # Any: as in pydantic
        return False

    def model_schema(self, schema: Any) -> Json:  # Any: as in pydantic
        made = super().model_schema(schema)
        made.pop("title", None)
        made["description"] = made.get("description", "").partition("\n\n")[0]
        for name, field in schema["cls"].model_fields.items():
            if may_be_empty(field.get_default(call_default_factory=True)):
                key = field.alias or name
                made["properties"][key] = _or_nothing(made["properties"][key])
        return made


def _or_nothing(allowed: Json) -> Json:
    """A section whose keys are all commented out is read as no section."""
    outside: Json = {key: allowed.pop(key) for key in ("description", "default") if key in allowed}
    if "$ref" in allowed:  # the keys of a section show their defaults themselves
        outside.pop("default", None)
    return {"anyOf": [allowed, {"type": "null"}], **outside}

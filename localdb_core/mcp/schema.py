"""JSON schemas as they stand on the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Nullable = Literal["array", "any_of"]


class WireSchema(GenerateJsonSchema):
    """Pydantic's schema without derived titles."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # Any: a private pydantic union
        """Never: a title made from a field's name tells an agent nothing."""
        return False


class ContractSchema(WireSchema):
    """The contract's style: nullable as a type array, integers with their width."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """``{"type": ["string", "null"]}`` where the inner type is a plain one."""
        inner = self.generate_inner(schema["schema"])
        if isinstance(inner.get("type"), str):
            return {**inner, "type": [inner["type"], "null"]}
        return super().nullable_schema(schema)

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        """Integers say ``int64`` unless the field says otherwise."""
        return {**super().int_schema(schema), "format": "int64"}


def input_schema(model: type[BaseModel], nullable: Nullable) -> dict[str, Any]:
    """The input schema of a tool with these arguments.

    A model without fields gives the bare object of the contract.
    """
    if not model.model_fields:
        return {"properties": {}, "type": "object"}
    generator = ContractSchema if nullable == "array" else WireSchema
    schema = model.model_json_schema(schema_generator=generator)
    for name in ("title", "description"):
        schema.pop(name, None)
    return {"$schema": generator.schema_dialect, **schema}

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


class ClosedSchema(WireSchema):
    """Objects that hold what is printed and nothing else."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """A pydantic model."""
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """A dataclass in a model."""
        return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """A typed dictionary in a model."""
        return _closed(super().typed_dict_schema(schema))


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
    """The input schema of a tool with these arguments: the contract's open one, else closed."""
    if nullable == "any_of":
        return _printed(model, ClosedSchema, "validation")
    if not model.model_fields:
        return {"properties": {}, "type": "object"}
    return _printed(model, ContractSchema, "validation")


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's data: closed, and as the data is written."""
    return _printed(model, ClosedSchema, "serialization")


def _printed(
    model: type[BaseModel],
    generator: type[WireSchema],
    mode: Literal["validation", "serialization"],
) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=generator, mode=mode)
    for name in ("title", "description"):
        schema.pop(name, None)
    if schema.get("type") != "object":
        raise TypeError(f"{model.__name__} is not printed as an object")
    return {"$schema": generator.schema_dialect, **schema}


def _closed(schema: JsonSchemaValue) -> JsonSchemaValue:
    if schema.get("type") != "object":  # a root model stands for what it holds
        return schema
    return {**schema, "properties": schema.get("properties", {}), "additionalProperties": False}

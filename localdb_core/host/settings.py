"""A plugin's own section of the config, judged by the plugin's own model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localdb_core.domain.errors import InvalidConfig
from localdb_core.host.guard import Refused, guard
from localdb_core.host.lazy import attribute
from localdb_core.plugin import PluginInfo

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

SECRET_WORDS = ("token", "password", "secret", "api_key")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key a plugin's section may have, for people. A secret has no default to show."""

    key: str
    type: str
    default: str
    description: str = ""


def plugin_settings(
    plugin: str, info: PluginInfo, section: Mapping[str, Any] | None
) -> Any:  # Any: the plugin's own model
    """The section as the model named in ``PluginInfo.config``; None when it names none.

    Raises InvalidConfig that names ``plugins.config.<plugin>.<key>``, and
    PluginError when the model cannot be imported or is no pydantic model.
    Values are not repeated in messages: they may be secrets.
    """
    if info.config is None:
        if section:
            raise InvalidConfig(f"plugins.config.{plugin}: this plugin has no settings")
        return None
    from pydantic import ValidationError  # 84 ms

    model = _model(plugin, info.config)
    try:
        with guard(plugin, "configure", knowingly=(ValidationError,)):
            return model.model_validate(dict(section or {}))
    except ValidationError as error:
        raise InvalidConfig(_explained(plugin, error)) from None  # its text repeats the values


def describe_settings(plugin: str, info: PluginInfo) -> list[Setting]:
    """Every key with its type and default. Raises PluginError as above."""
    if info.config is None:
        return []
    model = _model(plugin, info.config)
    with guard(plugin, "configure"):
        schema = model.model_json_schema()
        shared = schema.get("$defs", {})
        required = schema.get("required", ())
        return [
            Setting(
                key=key,
                type=_type_of(field),
                default=_default_of(key, field, shared, required=key in required),
                description=str(field.get("description", "")),
            )
            for key, field in schema.get("properties", {}).items()
        ]


def settings_model(plugin: str, info: PluginInfo) -> type[BaseModel] | None:
    """The model of a plugin's section; None when it has none. Raises PluginError as above."""
    return None if info.config is None else _model(plugin, info.config)


def _model(plugin: str, target: str) -> type[BaseModel]:
    model: type[BaseModel] = attribute(target, plugin=plugin)
    with guard(plugin, "configure"):
        if not callable(getattr(model, "model_validate", None)):
            raise Refused(f"{target} is no pydantic model")
    return model


def _explained(plugin: str, error: ValidationError) -> str:
    return "; ".join(
        ".".join(("plugins.config", plugin, *map(str, fault["loc"]))) + f": {_lower(fault['msg'])}"
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _lower(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return message[:1].lower() + message[1:]


def _type_of(field: Mapping[str, Any]) -> str:
    options = [option.get("type", "object") for option in field.get("anyOf", ())]
    return " or ".join(map(str, options or [field.get("type", "object")]))


def _default_of(
    key: str, field: Mapping[str, Any], shared: Mapping[str, Any], *, required: bool
) -> str:
    if _is_secret(key, field, shared):
        return "(secret)"
    if required:
        return "(required)"
    return repr(field["default"]) if "default" in field else ""


def _is_secret(key: str, field: Mapping[str, Any], shared: Mapping[str, Any]) -> bool:
    """Marked as write-only anywhere inside, or named like one (but not its variable)."""
    named = any(word in key.lower() for word in SECRET_WORDS) and not key.endswith("_env")
    return named or any(part.get("writeOnly") for part in _parts(field, shared, frozenset()))


def _parts(
    node: object, shared: Mapping[str, Any], seen: frozenset[str]
) -> Iterator[Mapping[str, Any]]:
    """Every object inside a schema, references followed once."""
    if isinstance(node, list):
        for item in node:
            yield from _parts(item, shared, seen)
    if isinstance(node, Mapping):
        yield node
        for value in node.values():
            yield from _parts(value, shared, seen)
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            yield from _parts(shared.get(name), shared, seen | {name})

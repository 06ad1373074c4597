"""Finding and building the component that a contract is about.

What an author must write is a method that raises NotImplementedError and says so, never an
abstract one: pytest leaves an abstract class out without a word, and nothing would be tested.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from localdb_core.host.firstparty import CORE
from localdb_core.plugin import (
    ENTRY_POINT_GROUP,
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    RankerSpec,
    ResourceSpec,
    SourceSpec,
    Spec,
    SurfaceSpec,
    ToolSpec,
)

if TYPE_CHECKING:
    import pytest

S = TypeVar("S", bound=Spec)

_HOOKS: Final[Mapping[type[Spec], str]] = {
    ChunkerSpec: "localdb_chunkers",
    EmbedderSpec: "localdb_embedders",
    IndexSpec: "localdb_indexes",
    ParserSpec: "localdb_parsers",
    RankerSpec: "localdb_rankers",
    ResourceSpec: "localdb_resources",
    SourceSpec: "localdb_sources",
    SurfaceSpec: "localdb_surfaces",
    ToolSpec: "localdb_tools",
}


def find_spec(component: str, of: type[S]) -> S:
    """The description of ``plugin/name``, from the installed entry point.

    Raises:
        LookupError: no such plugin is installed, or it offers no such component.
    """
    plugin, _, name = component.partition("/")
    hook = _HOOKS[of]
    offered: dict[str, S] = {spec.name: spec for spec in getattr(_light_module(plugin), hook)()}
    if name not in offered:
        kind = of.__name__.removesuffix("Spec").lower()
        raise LookupError(f"plugin {plugin} offers no {kind} {name!r}, only {sorted(offered)}")
    return offered[name]


def is_installed(plugin: str) -> bool:
    """Whether an entry point has this name."""
    return bool(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=plugin))


def settings_of(component: str, values: Mapping[str, Any] | None) -> Any:
    """The plugin's config section as its own model; None when it has none."""
    # Any: config values, and the plugin's pydantic model
    model = _light_module(component.partition("/")[0]).PLUGIN.config
    return attribute_of(model).model_validate(dict(values or {})) if model else None


def attribute_of(target: str) -> Any:  # Any: whatever "module:attribute" names
    """The object a target names."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def offline(monkeypatch: pytest.MonkeyPatch, spec: EmbedderSpec | RankerSpec) -> None:
    """:func:`no_connections` for a component that may say ``needs_network``.

    The test of one that says so is skipped: to connect is what it is for.
    """
    import pytest  # here, for this module also serves `plugin check`, which goes without

    if spec.needs_network:
        pytest.skip(f"{spec.name} says needs_network: to connect is what it is for")
    no_connections(monkeypatch)


def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every attempt to connect fails the test."""

    def refuse(*arguments: object) -> NoReturn:
        raise AssertionError(f"tried to connect: {arguments[1:]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


def _light_module(plugin: str) -> Any:  # Any: a module with hook functions
    if plugin == CORE:  # built in, so no entry point names it
        return importlib.import_module("localdb_core.builtin.plugin")
    found = list(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=plugin))
    if not found:
        raise LookupError(
            f"no installed plugin is called {plugin!r}; install it first: pip install -e ."
        )
    return found[0].load()

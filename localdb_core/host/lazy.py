"""The heavy half of a plugin: imported and built when it is first needed."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from localdb_core.domain.errors import LocaldbError, PluginError
from localdb_core.host.guard import Refused, announced, guard
from localdb_core.host.owned import Owned
from localdb_core.plugin import (
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    PluginContext,
    RankerSpec,
    ResourceSpec,
    SourceSpec,
    Spec,
    ToolSpec,
)

S = TypeVar("S", bound=Spec)

METHODS: Final[dict[type[Spec], tuple[str, ...]]] = {
    ParserSpec: ("parse",),
    EmbedderSpec: ("embed", "count_tokens", "close"),
    IndexSpec: ("upsert", "delete", "query", "ids", "count", "flush", "close"),
    RankerSpec: ("rank", "close"),
    ToolSpec: ("run",),
    ResourceSpec: ("read",),
    SourceSpec: ("list",),
    ChunkerSpec: ("cut",),
}
"""What the protocols ask of a component; attributes that may be costly are left out."""


def attribute(target: str, *, plugin: str, component: str = "", distribution: str = "") -> Any:
    """The object a ``"module:attribute"`` names. Raises PluginError, stage ``import``.

    Remembered, failures too: the modules of a process do not change, and a
    parser whose library is missing is not looked for once per document.
    """
    found = _found(target, plugin)
    if isinstance(found, PluginError):
        raise PluginError(
            plugin,
            stage="import",
            reason=found.reason,
            component=component,
            distribution=distribution,
        ) from found.__cause__
    return found


def build(owned: Owned[S], context: PluginContext) -> Any:  # Any: the protocol of its kind
    """The component, built by calling its target with the context.

    Raises PluginError when the code cannot be imported (stage ``import``), fails,
    or makes something that is no component (stage ``build``). Errors of the domain
    (a missing model, a wrong setting) pass as they are: the plugin means them.
    """
    origin = f"{owned.distribution} {owned.version}".strip()
    target: Callable[[PluginContext], object] = attribute(
        owned.value.target,
        plugin=owned.plugin,
        component=owned.full_id,
        distribution=origin,
    )
    with guard(
        owned.plugin,
        "build",
        component=owned.full_id,
        distribution=origin,
        knowingly=(LocaldbError,),
    ):
        return _checked(target(context), owned.value)


@cache  # a memory of imports, not state: the same target always means the same object
def _found(target: str, plugin: str) -> object:
    """What the target names, or the error that kept it from being found."""
    try:
        with guard(plugin, "import"), announced(plugin):
            return _resolved(target)
    except PluginError as error:
        return error


def _resolved(target: str) -> object:
    path, _, name = target.partition(":")
    found: object = importlib.import_module(path)
    for part in name.split("."):
        if not hasattr(found, part):
            raise Refused(f"{target} does not exist: {path} has no {name}")
        found = getattr(found, part)
    return found


def _checked(component: object, spec: Spec) -> object:
    """Refuse what cannot do the work, now and by name rather than in the middle of it."""
    if inspect.iscoroutine(component):
        component.close()
        raise Refused(f"{spec.target} is async; targets are plain callables")
    for kind, methods in METHODS.items():
        missing = [name for name in methods if not callable(getattr(component, name, None))]
        if isinstance(spec, kind) and missing:
            raise Refused(
                f"{spec.target} made a {type(component).__name__} without {', '.join(missing)}"
            )
    return component

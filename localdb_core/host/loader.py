"""Imports one light module, checks it and registers it, or leaves no trace."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import pluggy

from localdb_core.host.discovery import Candidate
from localdb_core.host.guard import (
    NOTICE_AFTER,
    Incompatible,
    Meter,
    Refused,
    announced,
    guard,
)
from localdb_core.plugin import API_VERSION, PluginInfo
from localdb_core.plugin.hookspecs import LocaldbSpec
from localdb_core.plugin.markers import PROJECT

_HOOKS: Final = {
    name: frozenset(inspect.signature(member).parameters) - {"self"}
    for name, member in vars(LocaldbSpec).items()
    if inspect.isfunction(member)
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A plugin that is part of the manager.

    Attributes:
        info: what it says about itself.
        advice: what its author should change, though it works: deprecated hooks and
            arguments, arguments that are never filled.
    """

    info: PluginInfo
    advice: tuple[str, ...] = ()


def new_manager() -> pluggy.PluginManager:
    """A manager that knows the hooks and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(LocaldbSpec)
    return manager


def load(
    manager: pluggy.PluginManager,
    candidate: Candidate,
    *,
    meter: Meter,
    module: ModuleType | None = None,
    notice_after: float = NOTICE_AFTER,
) -> Loaded:
    """Make a candidate part of the manager; raises PluginError and undoes what it did.

    ``module`` spares the import, for plugins that are handed over directly.
    """
    name, origin = candidate.name, candidate.origin
    with (
        guard(name, "import", distribution=origin, meter=meter),
        announced(name, notice_after),
    ):
        module = module or _imported(candidate.module)
    with guard(name, "describe", distribution=origin, meter=meter):
        _check_name(name)
        info = _described(module)
    with guard(name, "register", distribution=origin, meter=meter):
        advice = _register(manager, name, module)
    return Loaded(info, advice)


def _imported(path: str) -> ModuleType:
    if ":" in path or "[" in path:
        raise Refused(f"the entry point must name a module, not {path!r}")
    return importlib.import_module(path)


def _described(module: ModuleType) -> PluginInfo:
    info = getattr(module, "PLUGIN", None)
    if info is None:
        raise Refused(f"{module.__name__} has no PLUGIN = PluginInfo(...)")
    if not isinstance(info, PluginInfo):
        raise Refused(f"PLUGIN is a {type(info).__name__}, not a PluginInfo")
    _check_api(info.api)
    return info


def _check_name(name: str) -> None:
    """It becomes a folder's name, a key of the config and the first half of full ids."""
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise Refused("the entry point's name may have letters, digits and - . _ only")


def _check_api(api: object) -> None:
    """A plugin runs when the major is equal and its minor is not newer."""
    parts = api.split(".") if isinstance(api, str) else []
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise Refused(f"PLUGIN.api is {api!r}; write major.minor, such as '1.0'")
    major, minor = map(int, parts)
    if major != API_VERSION[0] or minor > API_VERSION[1]:
        here = ".".join(map(str, API_VERSION))
        raise Incompatible(f"needs plugin API {api}, this is {here}")


def _register(manager: pluggy.PluginManager, name: str, module: ModuleType) -> tuple[str, ...]:
    faults = list(_faults(manager, module))
    if faults:
        raise Refused("; ".join(faults))
    with ExitStack() as undo:
        # pluggy 1.6 leaves a refused plugin half registered, its earlier hooks answering
        undo.callback(_withdraw, manager, name, module)
        # pluggy warns of hooks whose specification says warn_on_impl; users cannot mend that
        with warnings.catch_warnings(record=True) as deprecations:
            warnings.simplefilter("always")
            manager.register(module, name)
        undo.pop_all()
    return (*(str(warning.message) for warning in deprecations), *_never_filled(manager, module))


def _withdraw(manager: pluggy.PluginManager, name: str, module: ModuleType) -> None:
    if manager.get_plugin(name) is module:
        manager.unregister(module)


def _implementations(
    manager: pluggy.PluginManager, module: ModuleType
) -> Iterator[tuple[str, Any, Any]]:  # Any: the function, and pluggy's options
    """Hook name, function and options of everything that is marked."""
    for attribute in dir(module):
        options = manager.parse_hookimpl_opts(module, attribute)
        if options is not None:
            yield options.get("specname") or attribute, getattr(module, attribute), options


def _faults(manager: pluggy.PluginManager, module: ModuleType) -> Iterator[str]:
    """Everything the host cannot work with; pluggy itself reports late or not at all."""
    marked = set()
    for hook, function, options in _implementations(manager, module):
        marked.add(hook)
        if hook not in _HOOKS:
            if not options["optionalhook"]:
                yield f"unknown hook {hook}"
        elif options["hookwrapper"] or options["wrapper"]:
            yield f"{hook} is a wrapper; plugin API 1 has none"
        elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            yield f"{hook} is async; hooks are plain functions"
        elif extra := _required(function) - _HOOKS[hook]:
            yield f"{hook} asks for undeclared arguments: {', '.join(sorted(extra))}"
    for hook in sorted(_HOOKS.keys() - marked):
        if inspect.isfunction(getattr(module, hook, None)):
            yield f"{hook} is not marked with @hookimpl"


def _never_filled(manager: pluggy.PluginManager, module: ModuleType) -> Iterator[str]:
    """pluggy passes no argument that has a default, whatever it is called."""
    for hook, function, _ in _implementations(manager, module):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.default is not parameter.empty:
                yield f"{hook}: {parameter.name} has a default, so it is never filled"


def _required(function: Any) -> set[str]:  # Any: whatever carries the marker
    return {
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }

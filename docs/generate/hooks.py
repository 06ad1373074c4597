"""``hooks.md``: every hook, with the description that it returns."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generate.api import bare, field_table
from generate.markdown import after_fields, code, fence, prose
from localdb_core import plugin, testing
from localdb_core.plugin.hookspecs import LocaldbSpec

_HOW_TO = Path(__file__).parents[1] / "how-to"
_INTRO = """\
# Hooks

A plugin is a distribution with an entry point in the group `{group}`. The entry point names a
*light module*: it holds `PLUGIN` ([`PluginInfo`](plugin-api.md#plugininfo)) and functions marked
`@hookimpl` with the names below. It imports nothing but `localdb_core.plugin`,
`localdb_core.domain` and the standard library; heavy libraries belong into the modules that a
`target` names.

A hook that raises, or returns what it should not, costs this plugin its components and nobody
else's; `localdb plugin list` says what happened. Every `target` is `"module:attribute"`. It is
imported when the component is first needed, and called with one argument, the context.

"""


def hook_names() -> list[str]:
    """Every hook of the API, in the order of the specification."""
    return [name for name in vars(LocaldbSpec) if name.startswith("localdb_")]


def page() -> str:
    """One section for each hook."""
    intro = _INTRO.format(group=plugin.ENTRY_POINT_GROUP)
    return intro + "".join(_section(name) for name in hook_names())


def _section(name: str) -> str:
    function = getattr(LocaldbSpec, name)
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.name != "self"]
    returned = str(signature.return_annotation)
    text = f"## {name}\n\n" + fence(f"def {name}{bare(signature.replace(parameters=kept))}")
    text += prose(function.__doc__)
    found = re.search(r"\[(\w+)\]", returned)
    spec = getattr(plugin, found[1], None) if found else None
    if spec is None:
        return text
    if not spec.__name__.endswith("Spec"):
        return text + f"It returns [`{spec.__name__}`](plugin-api.md#{spec.__name__.lower()}).\n\n"
    return text + _spec(spec)


def _spec(spec: type) -> str:
    noun = spec.__name__.removesuffix("Spec")
    text = f"### {spec.__name__}\n\n" + prose(spec.__doc__) + field_table(spec)
    return text + after_fields(spec.__doc__) + _around(noun)


def _around(noun: str) -> str:
    """What belongs to a kind of component; found by its name."""
    facts = []
    protocol = next((n for n in (noun, f"{noun}Kind", f"{noun}Reader") if _public(n)), None)
    own = "ToolContext" if noun == "Resource" else f"{noun}Context"
    context = own if _public(own) else "PluginContext"
    if protocol:
        facts.append(f"What the target returns: {_link(protocol)}")
        facts.append(f"What it is called with: {_link(context)}")
    kept = [f"`{module}.{name}`" for module, name in _contracts(noun)]
    if kept:
        facts.append(f"Tests to inherit: {', '.join(kept)}")
    guide = f"write-a{'n' * (noun[0] in 'AEIOU')}-{noun.lower()}.md"
    if (_HOW_TO / guide).exists():
        facts.append(f"Step by step: [how-to](../how-to/{guide})")
    return "".join(f"- {fact}\n" for fact in facts) + "\n" * bool(facts)


def _public(name: str) -> bool:
    return name in plugin.__all__


def _link(name: str) -> str:
    return f"[{code(name)}](plugin-api.md#{name.lower()})"


def _contracts(noun: str) -> Iterator[tuple[str, str]]:
    """Classes of the contract kit for this kind, with the modules they are written in."""
    for info in sorted(pkgutil.iter_modules(testing.__path__), key=lambda info: info.name):
        module: Any = importlib.import_module(f"{testing.__name__}.{info.name}")
        for name, value in sorted(vars(module).items()):
            ours = inspect.isclass(value) and value.__module__ == module.__name__
            if ours and name.endswith(f"{noun}Contract") and not name.startswith("_"):
                yield module.__name__, name

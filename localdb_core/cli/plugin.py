"""``localdb plugin``: what is installed, and what became of it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from localdb_core.cli import complete, render
from localdb_core.cli.command import Group
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.errors import InvalidRequest, PluginError
from localdb_core.domain.health import Check
from localdb_core.domain.uri import printable
from localdb_core.host.discovery import environment
from localdb_core.host.firstparty import normalised
from localdb_core.host.guard import plugin_traceback
from localdb_core.host.host import Host
from localdb_core.host.kinds import KINDS, PLUGIN_KINDS, Kind
from localdb_core.host.owned import Owned
from localdb_core.host.settings import Setting, describe_settings
from localdb_core.host.status import PluginStatus, statuses_json, statuses_table
from localdb_core.plugin import (
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

_FAULT: Final = 1


@click.group("plugin", cls=Group)
def plugin_group() -> None:
    """Show, check and make plugins."""


plugin = plugin_group


@plugin_group.command("list", examples=["localdb plugin list", "localdb plugin list --no-load"])
@click.option("--no-load", is_flag=True, help="Read package metadata only; import no plugin.")
@click.option("--kind", type=click.Choice(KINDS), help="Only plugins that provide this kind.")
@pass_state
def list_plugins(state: State, no_load: bool, kind: Kind | None) -> None:
    """List installed plugins and what each provides.

    A broken plugin is listed with its fault; the exit status is 0 all the same.
    """
    if no_load and kind:
        raise InvalidRequest("--kind needs to load the plugins; leave out --no-load")
    host = Host.scan(state.selection()) if no_load else state.host()
    state.first_run()
    conflicts = host.conflicts if no_load else state.conflicts()
    statuses = [s for s in host.statuses if kind is None or _provides(s, kind)]
    if state.json:
        _write_json(state, statuses_json(statuses, len(conflicts)))
        return
    _write(state, statuses_table(statuses))
    if conflicts:
        number = f"{len(conflicts)} conflict{'s' if len(conflicts) > 1 else ''}"
        _write(state, f"{number}; see: localdb plugin conflicts")
    _write(state, f"looked in {environment()}")


@plugin_group.command("info", examples=["localdb plugin info pdf"])
@click.argument("name", shell_complete=complete.plugins)
@pass_state
def show_plugin(state: State, name: str) -> None:
    """Show one plugin: components, settings, where it is and what went wrong.

    NAME is the plugin's name or its distribution's. An unknown name is exit 2.
    """
    host = state.host()
    state.first_run()
    found = _named(host, name)
    if state.json:
        _write_json(state, {"plugins": [_info_json(host, status) for status in found]})
        return
    _write(state, "\n\n".join("\n".join(_info_lines(host, status)) for status in found))


@plugin_group.command("conflicts", examples=["localdb plugin conflicts"])
@pass_state
def show_conflicts(state: State) -> None:
    """Show what several plugins want, who has it, and the config line that changes it."""
    conflicts = state.conflicts()
    state.first_run()
    if state.json:
        _write_json(state, {"conflicts": [conflict.to_json() for conflict in conflicts]})
        return
    for conflict in conflicts:
        losers = ", ".join(conflict.losers)
        kept = f"{conflict.winner} before {losers}" if conflict.winner else f"none of {losers}"
        _write(state, f"{conflict.kind} {conflict.key}: {kept} ({conflict.rule})")
        _write(state, f"  to change it: {conflict.remedy}")
    if not conflicts:
        _write(state, "no conflicts")


@plugin_group.command(
    "check", examples=["localdb plugin check rtf", "localdb plugin check rtf --deep"]
)
@click.argument("name", required=False, shell_complete=complete.plugins)
@click.option("--deep", is_flag=True, help="Build every component, too.")
@pass_state
def check_plugins(state: State, name: str | None, deep: bool) -> int:
    """Hold a plugin, or every one, to what a plugin owes localdb.

    Runs the contract for plugins, checks the settings in the config and asks the plugin
    for checks of its own. The exit status is 1 if something is wrong.
    """
    from localdb_core.domain.health import failed
    from localdb_core.services.doctor.contract import Examination  # every service

    host = state.host()
    state.first_run()
    chosen = host.statuses if name is None else _named(host, name)
    examination = Examination.of(
        host, state.config_path, state.written(), services=lambda: state.app().services()
    )
    found: dict[str, list[Check]] = {}
    for status in chosen:
        for check in examination.checks(status, deep=deep):
            found.setdefault(status.name, []).append(check)
            if not state.json:
                render.check(state, check)
    if state.json:
        listed = [{"name": n, "checks": [c.to_json() for c in cs]} for n, cs in found.items()]
        _write_json(state, {"plugins": listed})
    return _FAULT if any(map(failed, found.values())) else 0


@plugin_group.command("new", examples=["localdb plugin new ics --kind parser"])
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(PLUGIN_KINDS), required=True, help="What it is to provide."
)
@click.option(
    "--path",
    "parent",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="Where its folder is made; here, if not given.",
)
@pass_state
def new_plugin(state: State, name: str, kind: Kind, parent: Path) -> None:
    """Make a folder for a plugin of your own, which works and passes its tests as it is.

    NAME is the plugin's name: lower-case letters, digits and hyphens. The folder and the
    distribution are called localdb-NAME. Nothing is installed.
    """
    from localdb_core.host.discovery import discover  # reads package metadata
    from localdb_core.scaffold.new import Request, create

    state.first_run()
    request = Request(name, kind)
    installed = discover()
    taken = [*(c.name for c in installed), *(c.distribution for c in installed)]
    made = create(request, parent, taken=taken)
    commands = _next_commands(made, name)
    if state.json:
        values = {"distribution": request.distribution, "kind": kind, "path": str(made)}
        _write_json(state, {**values, "next": commands})
        return
    _write(state, f"made {made}; next:")
    for command in commands:
        _write(state, f"  {command}")


def _next_commands(made: Path, name: str) -> list[str]:
    """Install into the environment this program runs in, test, check."""
    where = str(made) if made.is_absolute() else os.path.join(".", made)
    python = shlex.quote(sys.executable)
    return [
        # this form needs no pip within the environment
        f"python3 -m pip --python {python} install -e {shlex.quote(f'{where}[test]')}",
        f"{python} -m pytest {shlex.quote(where)}",
        f"{_program()} plugin check {name} --deep",
    ]


def _program() -> str:
    """``localdb``; its path where the shell would find none, or that of another environment."""
    import shutil  # not needed by the commands that start often

    here = Path(sys.executable).with_name("localdb")
    found = os.path.realpath(shutil.which("localdb") or "")
    return shlex.quote(str(here)) if here.is_file() and found != str(here.resolve()) else "localdb"


def _named(host: Host, name: str) -> list[PluginStatus]:
    """Whoever has the name, as plugin or distribution. Raises InvalidRequest for nobody."""
    found = [s for s in host.statuses if normalised(name) in _names(s)]
    if not found:
        known = ", ".join(dict.fromkeys(s.name for s in host.statuses))
        raise InvalidRequest(f"no plugin is named {name!r}; installed: {known}")
    return found


def _names(status: PluginStatus) -> set[str]:
    return {normalised(status.name), normalised(status.distribution)}


def _provides(status: PluginStatus, kind: Kind) -> bool:
    return any(provided.kind == kind for provided in status.provides)


def _info_json(host: Host, status: PluginStatus) -> dict[str, Any]:  # Any: JSON values
    info = host.infos.get(status.name) if status.stage != "gate" else None
    settings, status = _settings(host, status)
    return {
        **status.to_json(),
        "location": status.location,
        "summary": info.summary if info else None,
        "homepage": info.homepage if info else None,
        "api": info.api if info else None,
        "components": [
            {
                "kind": kind,
                "name": owned.value.name,
                "id": owned.full_id,
                "target": owned.value.target,
                "summary": owned.value.summary,
                "claims": _claims(owned.value),
            }
            for kind, owned in _components(host, status)
        ],
        "settings": [
            {"key": s.key, "type": s.type, "default": s.default, "description": s.description}
            for s in settings
        ],
        "traceback": status.traceback,
    }


def _info_lines(host: Host, status: PluginStatus) -> Iterator[str]:
    info = host.infos.get(status.name) if status.stage != "gate" else None
    settings, status = _settings(host, status)
    yield f"{status.name} {status.version} ({status.distribution})"
    if info and info.summary:
        yield info.summary
    yield f"state:     {status.state}"
    yield f"location:  {status.location}"
    if info and info.homepage:
        yield f"homepage:  {info.homepage}"
    components = list(_components(host, status))
    if components:
        yield "components:"
    for kind, owned in components:
        claims = "".join(f"\n      {key}: {value}" for key, value in _claims(owned.value).items())
        yield f"  {kind} {owned.full_id}  {owned.value.summary}".rstrip() + claims
    if settings:
        yield f"settings (plugins.config.{status.name}):"
    for setting in settings:
        yield (
            f"  {setting.key}  {setting.type}  {setting.default}  {setting.description}".rstrip()
        )
    if status.error is not None:
        yield f"{status.stage}: {status.error}"
    if status.traceback:
        yield status.traceback.rstrip()


def _components(host: Host, status: PluginStatus) -> Iterator[tuple[Kind, Owned[Spec]]]:
    """Nothing for a plugin that lost its name to another one."""
    for kind, owned in host.registry.everything():
        if (owned.plugin, owned.distribution) == (status.name, status.distribution):
            yield kind, owned


def _settings(host: Host, status: PluginStatus) -> tuple[list[Setting], PluginStatus]:
    """The plugin's config keys; if its model is broken, the status says so instead."""
    info = host.infos.get(status.name)
    if info is None or status.stage == "gate":
        return [], status
    try:
        return describe_settings(status.name, info), status
    except PluginError as error:
        reason = f"settings model: {error.reason}"
        joined = reason if status.error is None else f"{status.error}; {reason}"
        return [], replace(
            status,
            stage=status.stage or "describe",
            error=joined,
            traceback=status.traceback or plugin_traceback(error),
        )


def _claims(spec: Spec) -> dict[str, str]:
    """What a component says it can do, empty fields left out."""
    fields: dict[str, tuple[object, ...]] = {}
    match spec:
        case ParserSpec():
            fields = {
                "files": spec.filenames,
                "suffixes": spec.suffixes,
                "magic": spec.magic,
                "media types": spec.media_types,
                "runs in": (spec.runs,),
            }
        case EmbedderSpec():
            fields = {"models": spec.models, "needs network": ("yes",) * spec.needs_network}
        case IndexSpec():
            fields = {"leg": (spec.leg,), "encodings": spec.encodings}
        case RankerSpec():
            sees = () if spec.top is None else (spec.top,)
            fields = {"sees at most": sees, "needs network": ("yes",) * spec.needs_network}
        case ToolSpec():
            needed = () if spec.needed_flag is None else (f"--{spec.needed_flag}",)
            fields = {"surface": (spec.surface,), "effects": (spec.effects,), "needs": needed}
        case SourceSpec():
            fields = {"source kind": (spec.kind,)}
        case ChunkerSpec():
            fields = {"blocks": spec.claims, "presets": spec.presets}
        case SurfaceSpec():
            flags = tuple(f"--{flag.name} {flag.help}".strip() for flag in spec.flags)
            fields = {"flags": flags, "protocols": spec.protocols}
        case ResourceSpec():
            fields = {"surface": (spec.surface,), "uri": (spec.uri_template,)}
    return {key: ", ".join(map(str, values)) for key, values in fields.items() if values}


def _write(state: State, text: str) -> None:
    """Lines; plugins chose the words, so control characters are replaced."""
    state.out.writelines(f"{printable(part)}\n" for part in text.split("\n"))


def _write_json(state: State, value: dict[str, Any]) -> None:  # Any: JSON values
    state.out.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

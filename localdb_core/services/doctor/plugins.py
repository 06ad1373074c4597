"""Plugins: what became of each, their settings, what the config expects of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from localdb_core.config.model import Config
from localdb_core.config.paths import Paths
from localdb_core.config.plugins import choices_of
from localdb_core.domain.errors import InvalidConfig, LocaldbError
from localdb_core.domain.health import Check
from localdb_core.domain.ids import StoreId
from localdb_core.domain.store import Store
from localdb_core.host.host import Host
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import CheckContext
from localdb_core.services.components import Components
from localdb_core.services.doctor.collect import of_error
from localdb_core.services.doctor.setup import Setup
from localdb_core.storage.engines import LEGS

_NOT_CHOSEN: Final = Store(StoreId(""), "")
"""A store that leaves its engines to the config."""


def checks(host: Host, found: Setup) -> Iterator[Check]:
    """Each plugin's state, every conflict, and names that no plugin has."""
    for status in host.statuses:
        yield state(status)
    choices = choices_of(found.config or Config())
    for conflict in host.conflicts_for(choices):
        winner = f"{conflict.winner} before" if conflict.winner else "none of"
        yield Check.warn(
            f"{conflict.kind} {conflict.key}",
            f"wanted by several: {winner} {', '.join(conflict.losers)}",
            conflict.remedy,
        )
    for notice in host.notices:
        message, _, remedy = notice.rpartition("; ")
        yield Check.warn("plugin names", message or remedy, remedy if message else "")


def state(status: PluginStatus) -> Check:
    """What became of a plugin."""
    name = f"plugin {status.name}"
    version = f"{status.distribution} {status.version}".strip()
    if status.broken:
        where = f"{status.stage}: " if status.stage else ""
        return Check.fail(
            name,
            f"{version} is {status.state}: {where}{status.error}",
            f"localdb plugin info {status.name}; or leave it out with -P no:{status.name}",
        )
    if status.state == "ambiguous":
        remedy = f"plugins.pin: {{{status.name}: {status.distribution}}}"
        return Check.warn(name, f"{version} is not loaded: {status.error}", remedy)
    if status.state == "disabled":
        return Check.ok(name, f"{version} is left out: {status.error}")
    return Check.ok(name, f"{version} is {status.state}")


def settings_checks(host: Host, found: Setup, only: Collection[str] = ()) -> Iterator[Check]:
    """Each section of ``plugins.config``, judged by its plugin's own model.

    Of ``only`` these plugins, unless it is empty.
    """
    if found.config is None:
        return
    sections = found.config.plugins.config
    for plugin in only or host.infos:
        try:
            host.settings(plugin, sections.get(plugin))
        except LocaldbError as error:
            remedy = f"see: localdb plugin info {plugin}"
            yield Check.fail(f"settings of {plugin}", error.bare, remedy)
        else:
            if plugin in sections:
                yield Check.ok(f"settings of {plugin}", "as the plugin wants them")


def default_checks(host: Host, found: Setup) -> Iterator[Check]:
    """Whether the parsers, indexes and the embedder of the config can be had."""
    if found.config is None or found.paths is None:
        return
    components = Components(found.config, found.paths, lambda: host)
    yield from _parsers(components)
    for leg in LEGS:
        name = f"{leg} index"
        try:
            engine = components.engine(_NOT_CHOSEN, leg)
        except InvalidConfig as error:
            yield of_error(name, error)
            continue
        if engine.fallback:
            chosen = getattr(found.config.index, leg)
            yield Check.warn(
                name,
                f"{engine.fallback}; the built-in {engine.name} answers",
                f"pip install localdb-{chosen}, or set index.{leg}: {engine.name}",
            )
        else:
            yield Check.ok(name, engine.full_id)
    yield _embedder(components, found.config)


def _parsers(components: Components) -> Iterator[Check]:
    try:
        chain = components.chain
    except InvalidConfig as error:
        yield of_error("parsers", error)
        return
    for notice in chain.notices:
        message, _, remedy = notice.partition("; to get it: ")
        yield Check.warn("parsers", message, remedy or "localdb plugin list")
    if not chain.notices:
        yield Check.ok("parsers", ", ".join(owned.full_id for owned in chain.parsers))


def _embedder(components: Components, config: Config) -> Check:
    wanted = config.defaults.indexing.embedding
    try:
        owned = components.embedder_spec(wanted.provider)
    except InvalidConfig as error:
        return of_error("embedder", error)
    if owned is None:
        return Check.warn(
            "embedder",
            f"{wanted.provider} is not installed: nothing is searched by meaning",
            f"pip install localdb-{wanted.provider}",
        )
    return Check.ok("embedder", f"{owned.full_id} with model {wanted.model}")


def own_checks(host: Host, found: Setup, only: Collection[str] = ()) -> Iterator[Check]:
    """What plugins check themselves; those with wrong settings are not asked.

    ``only`` these plugins, unless it is empty.
    """
    if found.config is None or found.paths is None:
        return
    for checker in host.checkers:
        if only and checker.plugin not in only:
            continue
        context = _context(host, checker.plugin, found.config, found.paths)
        if context is not None:
            yield from checker.run(context)


def _context(host: Host, plugin: str, config: Config, paths: Paths) -> CheckContext | None:
    try:
        settings = host.settings(plugin, config.plugins.config.get(plugin))
    except LocaldbError:
        return None  # said where the settings are checked
    base = host.context(plugin, data_dir=paths.data, cache_dir=paths.cache, config=settings)
    wanted = config.defaults.indexing.embedding
    holders = host.registry.holders("embedder", wanted.provider)
    ours = any(owned.plugin == plugin for owned in holders)
    return CheckContext(
        **vars(base),
        model=wanted.model if ours else "",
        models_dir=paths.models,
    )

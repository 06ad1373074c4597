"""From config and registry to components: contexts, engines, embedders, parser chain."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

from localdb_core.config.model import Config, Embedding
from localdb_core.config.paths import Paths
from localdb_core.config.plugins import choices_of
from localdb_core.domain.errors import InvalidConfig, InvalidRequest
from localdb_core.domain.ids import policy_document
from localdb_core.domain.query import NO_RANKER
from localdb_core.domain.store import Store
from localdb_core.host.firstparty import CORE
from localdb_core.host.host import Host
from localdb_core.host.lazy import build
from localdb_core.host.owned import Owned
from localdb_core.host.resolve import Chain, parser_chain, resolve_name, source_of_kind
from localdb_core.plugin import (
    ChunkerSpec,
    Embedder,
    EmbedderContext,
    EmbedderSpec,
    PluginContext,
    ProviderSettings,
    Ranker,
    RankerSpec,
    Secret,
    SourceKind,
)
from localdb_core.storage.engines import OWN_LEGS, Engine, LegName
from localdb_core.storage.plugindb import open_plugin_database

log = logging.getLogger(__name__)


@dataclass
class Components:
    """Builds what the config names; the host is loaded when it is first needed."""

    config: Config
    paths: Paths
    load_host: Callable[[], Host]
    _settings: dict[str, Any] = field(default_factory=dict)  # Any: the plugins' own models

    @cached_property
    def host(self) -> Host:
        """The plugins of this process."""
        host = self.load_host()
        host.enforce(choices_of(self.config))
        return host

    def context(self, plugin: str) -> PluginContext:
        """A plugin's context with its validated settings."""
        if plugin not in self._settings:
            section = self.config.plugins.config.get(plugin)
            self._settings[plugin] = self.host.settings(plugin, section)
        context = self.host.context(
            plugin,
            data_dir=self.paths.data,
            cache_dir=self.paths.cache,
            config=self._settings[plugin],
        )
        info = self.host.infos.get(plugin)
        if info is None or info.migrations is None:
            return context
        connect = partial(open_plugin_database, plugin, info.migrations, context.data_dir)
        return replace(context, connect=connect)

    def check(self) -> None:
        """Load the plugins. Raises InvalidConfig when one is broken and that is not borne."""
        _ = self.host

    @cached_property
    def chain(self) -> Chain:
        """The parser chain of the config (§5.1 of the architecture)."""
        return parser_chain(
            self.host.registry,
            self.config.defaults.indexing.parsers,
            user_wrote=self.config.wrote("defaults.indexing.parsers"),
            auto=self.config.plugins.auto_parsers,
        )

    @cached_property
    def chunkers(self) -> tuple[Owned[ChunkerSpec], ...]:
        """Those of plugins that the config lists, then the built-in ones, in the order asked.

        Others are never asked, since the built-in ones claim every kind of block. Raises
        InvalidConfig for a name nobody has; one that the user keeps out is left out.
        """
        listed: dict[str, Owned[ChunkerSpec]] = {}
        for name in self.config.plugins.chunkers:
            try:
                owned = resolve_name(self.host.registry, "chunker", name)
            except InvalidConfig as error:
                if not self._left_out(name):
                    raise InvalidConfig(f"plugins.chunkers: {error.bare}") from error
            else:
                listed.setdefault(owned.full_id, owned)
        built_in = (owned for owned in self.host.registry.chunkers if owned.plugin == CORE)
        return (*listed.values(), *(o for o in built_in if o.full_id not in listed))

    def policy(self) -> Mapping[str, object]:
        """The indexing policy in force."""
        indexing = self.config.defaults.indexing
        return policy_document(
            parsers=indexing.parsers,
            provider=indexing.embedding.provider,
            model=indexing.embedding.model,
            preset_overrides=indexing.chunking.preset_overrides,
        )

    def engine(self, store: Store, leg: LegName) -> Engine:
        """The engine of one leg: the store's own choice, else the config's (E-5).

        A default that is not installed falls to the catalog's leg, and so does one whose
        plugin the user keeps out; a written one that is missing is InvalidConfig.
        """
        own = store.index_dense if leg == "dense" else store.index_sparse
        configured = self.config.index.dense if leg == "dense" else self.config.index.sparse
        name = own or configured
        set_by: Literal["config", "store"] = "store" if own else "config"
        if name == OWN_LEGS[leg]:
            return Engine(leg, None, set_by)
        try:
            owned = resolve_name(self.host.registry, "index", name)
        except InvalidConfig as error:
            if self._left_out(name):
                return Engine(leg, None, set_by, fallback=f"plugin {name} is left out")
            if own or self.config.wrote(f"index.{leg}"):
                raise InvalidConfig(f"index.{leg}: {error.bare}; {self._fitting(leg)}") from error
            return Engine(leg, None, set_by, fallback=f"{name} is not installed")
        if owned.value.leg != leg:
            kind = f"{owned.full_id} is a {owned.value.leg} index"
            raise InvalidConfig(f"index.{leg}: {kind}; {self._fitting(leg)}")
        return Engine(leg, owned, set_by)

    def _fitting(self, leg: LegName) -> str:
        """What may be written instead; the registry does not know the catalog's own legs."""
        specs = (owned.value for owned in self.host.registry.indexes)
        installed = sorted({spec.name for spec in specs if spec.leg == leg})
        return f"the {leg} leg takes {' or '.join([OWN_LEGS[leg], *installed])}"

    def _left_out(self, name: str) -> bool:
        """Whether the user keeps the plugin out (``--no-plugins``, ``-P no:``, the config)."""
        plugin = name.partition("/")[0]
        states = {status.name: status.state for status in self.host.statuses}
        core_alone = self.host.selection.no_plugins and set(states) <= {CORE}
        return core_alone or states.get(plugin) == "disabled"

    def embedder_spec(self, provider: str) -> Owned[EmbedderSpec] | None:
        """The embedder of a provider name; None when the default one is not installed."""
        try:
            return self._embedder(provider)
        except InvalidConfig:
            default = Embedding().provider
            if provider == default and not self._failed(provider):
                return None
            raise

    def _failed(self, plugin: str) -> bool:
        """Whether an installed plugin of this name could not be loaded."""
        return any(s.name == plugin and s.state != "disabled" for s in self.host.statuses)

    def build_embedder(self, provider: str, model: str) -> Embedder:
        """Load a model. Raises InvalidConfig, ModelMissing, ProviderUnavailable, PluginError."""
        owned = self._embedder(provider)
        base = self.context(owned.plugin)
        context = EmbedderContext(
            **vars(base),
            model=model,
            models_dir=self.paths.models,
            provider=self._provider(provider, (owned.value.name, owned.full_id, provider)),
        )
        embedder: Embedder = build(owned, context)
        return embedder

    def ranker(self, asked: str | None) -> Owned[RankerSpec] | None:
        """The ranker a search asks for, else the config's; None is none (L-BYD-25).

        Raises InvalidRequest or InvalidConfig for a name nobody has. A configured one
        that the user keeps out of this process is left out.
        """
        name = self.config.search.ranker if asked is None else asked
        if name is None or name == NO_RANKER:
            return None
        try:
            return resolve_name(self.host.registry, "ranker", name)
        except InvalidConfig as error:
            if asked is not None:
                raise InvalidRequest(error.bare) from error
            if self._left_out(name):
                return None
            raise InvalidConfig(f"search.ranker: {error.bare}") from error

    def build_ranker(self, owned: Owned[RankerSpec]) -> Ranker:
        """Load a ranker. Raises LocaldbError."""
        ranker: Ranker = build(owned, self.context(owned.plugin))
        return ranker

    def goes_on(self, provider: str, model: str, *, another: bool = False) -> bool:
        """Whether the config's embedder goes on where this one stopped (D-08).

        It is the same one, or a backend of its group with the same model, whose vectors
        mix with it. ``another`` asks for the latter: the same name with other vectors is
        a model that changed.
        """
        wanted = self.config.defaults.indexing.embedding
        if (provider, model) == (wanted.provider, wanted.model):
            return not another
        try:
            one, other = self._embedder(provider), self._embedder(wanted.provider)
        except InvalidConfig:
            return False
        group = one.value.group
        return (
            model == wanted.model
            and one != other
            and group is not None
            and (group == other.value.group)
        )

    def _embedder(self, provider: str) -> Owned[EmbedderSpec]:
        """By the name of an entry of ``providers[]``, else as a component's name (D-13)."""
        kinds = (entry.kind for entry in self.config.providers if entry.name == provider)
        return resolve_name(self.host.registry, "embedder", next(kinds, provider))

    def _provider(self, provider: str, kinds: Collection[str]) -> ProviderSettings | None:
        """The entry of this name, else the first of these kinds (L-EMB-05)."""
        numbered = list(enumerate(self.config.providers))
        named = [(n, entry) for n, entry in numbered if entry.name == provider]
        fitting = named or [(n, entry) for n, entry in numbered if entry.kind in kinds]
        if not fitting:
            return None
        number, entry = fitting[0]
        key = entry.api_key_env
        return ProviderSettings(
            name=entry.name,
            kind=entry.kind,
            base_url=entry.base_url,
            api_key=None if key is None else Secret("env", key, f"providers[{number}].api_key_env"),
        )

    def source_kind(self, kind: str) -> tuple[SourceKind, bool]:
        """The component that lists a kind of source, and whether it can observe everything."""
        owned = source_of_kind(self.host.registry, kind)
        component: SourceKind = build(owned, self.context(owned.plugin))
        return component, owned.value.can_observe_all

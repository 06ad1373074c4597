"""``plugin check``: whether a plugin keeps what every plugin owes, found out without pytest."""

from __future__ import annotations

import inspect
import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config
from localdb_core.domain.errors import LocaldbError, PluginError
from localdb_core.domain.health import Check
from localdb_core.host.firstparty import CORE
from localdb_core.host.guard import guard
from localdb_core.host.host import Host
from localdb_core.host.kinds import Kind
from localdb_core.host.lazy import build
from localdb_core.host.owned import Owned
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import AppContext, EmbedderCard, IndexContext, Spec, ToolContext
from localdb_core.services.components import Components
from localdb_core.services.doctor import plugins
from localdb_core.services.doctor.collect import collected
from localdb_core.services.doctor.setup import Setup
from localdb_core.testing.plugin import PluginContract

_CARD: Final = EmbedderCard(name="check", dimension=8, max_tokens=64, fingerprint="check")
"""The embedder whose vectors a dense index is opened for."""


@dataclass(frozen=True)
class Examination:
    """What a plugin is examined with.

    Attributes:
        host: the plugins of this process.
        found: the config and its folders.
        components: builds what the plugins describe.
        services: what tools are built with; opens the application.
    """

    host: Host
    found: Setup
    components: Components
    services: Callable[[], AppContext]

    @classmethod
    def of(
        cls,
        host: Host,
        config_path: Path | None,
        config: Config,
        *,
        services: Callable[[], AppContext],
    ) -> Self:
        """With the config as it is written; nothing is opened yet."""
        paths = Paths.of(find_config(config_path), config)
        return cls(host, Setup(config, paths), Components(config, paths, lambda: host), services)

    def checks(self, status: PluginStatus, *, deep: bool = False) -> Iterator[Check]:
        """Everything about one plugin; ``deep`` builds its components.

        Of a plugin that could not be loaded only that is said: all else would follow.
        """
        yield plugins.state(status)
        for advice in status.advice:
            yield Check.warn(status.name, advice, "see the hooks of localdb_core.plugin")
        if status.state not in ("active", "degraded"):
            return
        installed = status.name != CORE and status.distribution  # else no entry point names it
        if status.state == "active" and installed:
            section = (self.found.config or Config()).plugins.config.get(status.name)
            yield from _contract(status.name, section or {})
        only = (status.name,)
        yield from collected(status.name, plugins.settings_checks, self.host, self.found, only)
        yield from collected(status.name, plugins.own_checks, self.host, self.found, only)
        if deep:
            yield from self._components(status)

    def _components(self, status: PluginStatus) -> Iterator[Check]:
        for kind, owned in self.host.registry.everything():
            ours = (owned.plugin, owned.distribution) == (status.name, status.distribution)
            if ours and kind != "surface":  # which is a description and has no code
                yield self._built(kind, owned)

    def _built(self, kind: Kind, owned: Owned[Spec]) -> Check:
        name = f"{kind} {owned.full_id}"
        try:
            # chromadb and others keep files open for as long as the process lives
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                component = self._build(kind, owned, Path(folder))
                with guard(owned.plugin, "close", component=owned.full_id):
                    getattr(component, "close", lambda: None)()
        except PluginError as error:
            return Check.fail(name, str(error), f"localdb plugin info {owned.plugin}")
        except LocaldbError as error:
            # the plugin means it: no model, no server, a setting that is wanted
            return Check.warn(name, f"cannot be built here: {error}")
        return Check.ok(name, "can be built")

    def _build(self, kind: Kind, owned: Owned[Any], folder: Path) -> object:  # Any: see build
        components = self.components
        if kind == "embedder":
            return components.build_embedder(owned.full_id, self._model(owned))
        context = components.context(owned.plugin)
        if kind == "index":
            card = _CARD if owned.value.leg == "dense" else None
            place = folder / "index"
            context = IndexContext(**vars(context), folder=place, store_id="check", card=card)
        if kind in ("tool", "resource"):
            context = ToolContext(**vars(context), app=self.services())
        return build(owned, context)

    def _model(self, owned: Owned[Any]) -> str:  # Any: an EmbedderSpec
        """The configured model if this is the configured embedder, else one it names."""
        wanted = (self.found.config or Config()).defaults.indexing.embedding
        if wanted.provider in (owned.value.name, owned.full_id):
            return wanted.model
        return next((model for model in owned.value.models if "*" not in model), "")


def _contract(name: str, section: dict[str, Any]) -> Iterator[Check]:  # Any: config values
    """Each test of the contract as a check, named by its sentence."""
    contract = type("Contract", (PluginContract,), {"plugin": name, "settings": section})()
    for attribute, test in inspect.getmembers(contract, callable):
        if attribute.startswith("test_"):
            sentence = attribute.removeprefix("test_").replace("_", " ")
            yield _tried(name, sentence, test)


def _tried(name: str, sentence: str, test: Callable[[], object]) -> Check:
    printed = io.StringIO()
    try:
        with guard(name, "check"), redirect_stdout(printed):
            test()
    except PluginError as error:
        cause = error.__cause__
        said = str(cause).strip() if isinstance(cause, AssertionError) else error.reason
        lines = said.splitlines() or ["does not hold"]
        # of a program that ended in a traceback, the last line says why
        return Check.fail(name, f"{sentence}: {lines[-1]}", f"localdb plugin info {name}")
    measured = printed.getvalue().strip()
    return Check.ok(name, f"{sentence} ({measured})" if measured else sentence)

"""Finds, gates and loads plugins, and holds what they offer.

    host = Host.load(PluginSelection.from_inputs(environ=os.environ))
    parser = resolve_name(host.registry, "parser", "pdf")
    build(parser, host.context(parser.plugin, data_dir=..., cache_dir=..., config=None))

Call ``divert_stdout`` before loading when standard output matters: plugins print.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Self, cast

from localdb_core.domain.errors import InvalidConfig, InvalidRequest, PluginError
from localdb_core.host.calls import Calls
from localdb_core.host.conflicts import (
    Choices,
    Conflict,
    find_conflicts,
    shadowed_parsers,
)
from localdb_core.host.discovery import Candidate, discover
from localdb_core.host.firstparty import CORE, CORE_DISTRIBUTION
from localdb_core.host.gate import Verdict, judge
from localdb_core.host.guard import NOTICE_AFTER, Incompatible, Meter, plugin_traceback
from localdb_core.host.health import Checker, checkers
from localdb_core.host.loader import load, new_manager
from localdb_core.host.mentions import complaint
from localdb_core.host.registry import Registry
from localdb_core.host.selection import PluginSelection
from localdb_core.host.settings import plugin_settings
from localdb_core.host.status import PluginStatus, Provided, Stage, State
from localdb_core.plugin import PluginContext, PluginInfo
from localdb_core.version import __version__

_LOG = logging.getLogger(__name__)

_BUILTIN: Final = Candidate(
    name=CORE,
    distribution=CORE_DISTRIBUTION,
    version=__version__,
    module="localdb_core.builtin.plugin",
    location=str(Path(__file__).parents[2]),
)


@dataclass(frozen=True)
class Host:
    """The plugins of this process. Fixed for its life; holds nothing to close.

    Attributes:
        registry: every component on offer.
        statuses: what became of each plugin, built-in first, then by name.
        conflicts: as a new config would have them; see :meth:`conflicts_for`.
        infos: what each loaded plugin says about itself.
        notices: names in the config or the environment that no plugin has.
        checkers: plugins with checks of their own, for ``doctor``.
    """

    registry: Registry
    statuses: tuple[PluginStatus, ...]
    conflicts: tuple[Conflict, ...]
    infos: Mapping[str, PluginInfo]
    selection: PluginSelection
    verdicts: tuple[Verdict, ...] = ()
    notices: tuple[str, ...] = ()
    checkers: tuple[Checker, ...] = ()

    @classmethod
    def load(
        cls,
        selection: PluginSelection,
        *,
        builtins: bool = True,
        extra: Sequence[tuple[str, ModuleType]] = (),
        notice_after: float = NOTICE_AFTER,
    ) -> Self:
        """Load what the selection admits. A broken plugin costs its own components only.

        ``extra`` registers modules directly under a name, past the selection;
        tests use it together with ``no_plugins``. Raises InvalidRequest for a plugin to
        leave out (``-P``) that nobody has.
        """
        verdicts, notices = _judged_names(selection, taken=[name for name, _ in extra])
        loading = _Loading(notice_after)
        if builtins:
            loading.add(_BUILTIN)
        for name, module in extra:
            loading.add(_handed_over(name, module), module)
        for verdict in verdicts:
            if verdict.state == "admitted":
                loading.add(verdict.candidate)
        offered = loading.offered()
        conflicts = find_conflicts(offered, verdicts)
        statuses = loading.statuses(offered, shadowed_parsers(offered, conflicts))
        statuses += [_left_out(v) for v in verdicts if v.state != "admitted"]
        statuses.sort(key=lambda status: (status.name != CORE, status.name, status.distribution))
        registry = replace(offered, plugins=tuple(statuses))
        return cls(
            registry,
            tuple(statuses),
            conflicts,
            loading.infos,
            selection,
            verdicts,
            notices,
            checkers(loading.manager, loading.owners),
        )

    @classmethod
    def scan(cls, selection: PluginSelection, *, builtins: bool = True) -> Self:
        """What is installed, from package metadata alone; nothing is imported."""
        verdicts, notices = _judged_names(selection)
        statuses = [_status(_BUILTIN, "found")] if builtins else []
        statuses += [
            _status(v.candidate, "found") if v.state == "admitted" else _left_out(v)
            for v in verdicts
        ]
        registry = Registry(plugins=tuple(statuses))
        conflicts = find_conflicts(registry, verdicts)
        return cls(registry, tuple(statuses), conflicts, {}, selection, verdicts, notices)

    def conflicts_for(self, choices: Choices) -> tuple[Conflict, ...]:
        """The conflicts under what a config says."""
        return find_conflicts(self.registry, self.verdicts, choices)

    def enforce(self, choices: Choices = Choices()) -> None:  # noqa: B008 - frozen
        """Under ``--strict-plugins``, raise InvalidConfig if anything is wrong or contested.

        Not part of loading, so that ``plugin list`` can show what is wrong.
        """
        if not self.selection.strict:
            return
        faults = [*self.notices]
        faults += [f"plugin {s.name} is {s.state}: {s.error}" for s in self.statuses if s.broken]
        faults += [
            f"{conflict.kind} {conflict.key} is contested by {', '.join(conflict.losers)}"
            for conflict in self.conflicts_for(choices)
        ]
        if faults:
            raise InvalidConfig("; ".join(faults))

    def settings(self, plugin: str, section: Mapping[str, Any] | None) -> Any:
        """A plugin's config section as its own model; see :func:`plugin_settings`."""
        info = self.infos.get(plugin)
        return None if info is None else plugin_settings(plugin, info, section)

    def context(
        self, plugin: str, *, data_dir: Path, cache_dir: Path, config: Any = None
    ) -> PluginContext:
        """What a component of this plugin is built with.

        ``data_dir`` and ``cache_dir`` are the program's; the plugin gets the folder
        ``plugins/<plugin>`` in each. ``config`` is what :meth:`settings` returned.
        ``IndexContext(**vars(context), folder=...)`` makes a richer one of it.
        """
        return PluginContext(
            plugin=plugin,
            config=config,
            data_dir=data_dir / "plugins" / plugin,
            cache_dir=cache_dir / "plugins" / plugin,
            log=logging.getLogger(f"localdb.plugin.{plugin}"),
        )


@dataclass
class _Loading:
    """Plugins being loaded, until the snapshot is taken."""

    notice_after: float
    owners: dict[str, Candidate] = field(default_factory=dict)
    infos: dict[str, PluginInfo] = field(default_factory=dict)
    advice: dict[str, tuple[str, ...]] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)
    failures: dict[str, list[PluginError]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.manager = new_manager()

    def add(self, candidate: Candidate, module: ModuleType | None = None) -> None:
        """Import and register one plugin, or note why not."""
        name = candidate.name
        if name in self.owners:
            raise ValueError(f"two plugins are named {name}")
        self.owners[name] = candidate
        self.failures[name] = []
        self.meters[name] = Meter()
        try:
            loaded = load(
                self.manager,
                candidate,
                meter=self.meters[name],
                module=module,
                notice_after=self.notice_after,
            )
            self.infos[name], self.advice[name] = loaded.info, loaded.advice
        except PluginError as error:
            self.report(error)

    def report(self, error: PluginError) -> None:
        """Keep a failure for the plugin's status."""
        self.failures[error.plugin].append(error)
        _LOG.debug("%s", error, exc_info=error.__cause__)

    def offered(self) -> Registry:
        """Call every hook and collect what comes back."""
        calls = Calls(self.manager, self.owners, report=self.report, meters=self.meters)
        return Registry(
            parsers=tuple(calls.parsers()),
            embedders=tuple(calls.embedders()),
            indexes=tuple(calls.indexes()),
            rankers=tuple(calls.rankers()),
            tools=tuple(calls.tools()),
            sources=tuple(calls.sources()),
            chunkers=tuple(calls.chunkers()),
            surfaces=tuple(calls.surfaces()),
            resources=tuple(calls.resources()),
        )

    def statuses(self, offered: Registry, hidden: Collection[str]) -> list[PluginStatus]:
        """One status for each plugin that was added; ``hidden`` are shadowed parsers."""
        provides: dict[str, list[Provided]] = {name: [] for name in self.owners}
        for kind, owned in offered.everything():
            shadowed = kind == "parser" and owned.full_id in hidden
            provides[owned.plugin].append(Provided(kind, owned.value.name, shadowed))
        return [
            _judged(
                candidate,
                self.failures[name],
                provides=tuple(provides[name]),
                load_ms=self.meters[name].ms,
                advice=self.advice.get(name, ()),
            )
            for name, candidate in self.owners.items()
        ]


def _judged_names(
    selection: PluginSelection, taken: Collection[str] = ()
) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """The gate's answers, and what is wrong with the names that were written.

    ``taken`` names belong to modules that were handed over.
    """
    if selection.no_plugins:  # spares the search as well
        return (), ()
    candidates = discover()
    notices = tuple(_complaints(selection, candidates, taken))
    for notice in notices:
        _LOG.warning("%s", notice)
    verdicts = (
        Verdict(v.candidate, "disabled", "a module was handed over under this name")
        if v.candidate.name in taken
        else v
        for v in judge(candidates, selection)
    )
    return tuple(verdicts), notices


def _complaints(
    selection: PluginSelection, candidates: Sequence[Candidate], taken: Collection[str]
) -> Iterator[str]:
    for mention in selection.mentions:
        said = complaint(mention, candidates, taken)
        if said and mention.typed:
            raise InvalidRequest(said)
        if said:
            yield said


def _handed_over(name: str, module: ModuleType) -> Candidate:
    location = str(Path(module.__file__).parent) if module.__file__ else ""
    return Candidate(name, distribution="", version="", module=module.__name__, location=location)


def _judged(
    candidate: Candidate,
    failures: Sequence[PluginError],
    *,
    provides: tuple[Provided, ...],
    load_ms: float,
    advice: tuple[str, ...],
) -> PluginStatus:
    """A plugin that was tried: active, or what is wrong with it."""
    if not failures:
        return _status(candidate, "active", provides=provides, load_ms=load_ms, advice=advice)
    return _status(
        candidate,
        _damage(failures, provides),
        stage=cast(Stage, failures[0].stage),
        provides=provides,
        error="; ".join(failure.reason for failure in failures),
        load_ms=load_ms,
        traceback="\n".join(map(plugin_traceback, failures)),
        advice=advice,
    )


def _damage(failures: Sequence[PluginError], provides: Sequence[Provided]) -> State:
    if isinstance(failures[0].__cause__, Incompatible):
        return "incompatible"
    return "degraded" if provides else "failed"


def _left_out(verdict: Verdict) -> PluginStatus:
    """A plugin that was not admitted."""
    state: State = "disabled" if verdict.state == "disabled" else "ambiguous"
    return _status(verdict.candidate, state, stage="gate", error=verdict.reason)


def _status(
    candidate: Candidate,
    state: State,
    *,
    stage: Stage | None = None,
    provides: tuple[Provided, ...] = (),
    error: str | None = None,
    load_ms: float | None = None,
    traceback: str | None = None,
    advice: tuple[str, ...] = (),
) -> PluginStatus:
    return PluginStatus(
        name=candidate.name,
        distribution=candidate.distribution,
        version=candidate.version,
        location=candidate.location,
        state=state,
        stage=stage,
        provides=provides,
        error=error,
        load_ms=load_ms,
        traceback=traceback,
        advice=advice,
    )

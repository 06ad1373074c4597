"""``init``: write the config, make the folders and the first store."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

import click

from localdb_core.cli import render
from localdb_core.cli.command import Command
from localdb_core.cli.scope import DEFAULT_STORE
from localdb_core.cli.state import State, pass_state
from localdb_core.config.load import load_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config
from localdb_core.config.scaffold import make_folders, write_config
from localdb_core.domain.errors import LocaldbError, StoreNotFound
from localdb_core.domain.reports import EngineState


@dataclass
class _Done:
    """What was done, and what went wrong on the way."""

    store: bool = False
    model: bool = False
    warnings: list[str] = field(default_factory=list)


@click.command("init", cls=Command, examples=["localdb init", "localdb init --download-model"])
@click.option("--download-model", is_flag=True, help="Make sure that the model is there.")
@pass_state
def init(state: State, *, download_model: bool) -> None:
    """Make the config, the folders and a store called default.

    Other commands do the same when they find no config. Running it again is harmless.
    """
    path = find_config(state.config_path)
    if path.exists():  # a broken file is reported and left alone (L-CFG-21)
        Paths.of(path, load_config(path)).check_layout()
    done = _Done()
    try:
        # Opening on the first run makes everything, the store included.
        _open(state, done)
    except (LocaldbError, sqlite3.Error) as error:
        done.warnings.append(f"the database cannot be opened: {error}")
    write_config(path)
    config = load_config(path)
    paths = Paths.of(path, config)
    make_folders(paths)
    if download_model and done.store:
        _model(state, done)
    if state.json:
        _json(state, paths, done)
    else:
        _lines(state, paths, config, done)


def _open(state: State, done: _Done) -> None:
    try:
        state.app().stores.resolve(DEFAULT_STORE)
        done.store = True
    except StoreNotFound:
        pass  # it was removed, and stays away


def _model(state: State, done: _Done) -> None:
    try:
        embedder = state.app().engines.list([]).embedder
    except LocaldbError as error:
        done.warnings.append(f"the model could not be had: {error}")
        return
    done.model = embedder is not None and embedder.state is EngineState.READY
    if not done.model:
        done.warnings.append("the model is not there; see: localdb engine list")


def _json(state: State, paths: Paths, done: _Done) -> None:
    for warning in done.warnings:
        render.warn(state, warning)
    render.data(
        state,
        {
            "status": "ok",
            "config_path": str(paths.config_file),
            "data_dir": str(paths.data),
            "models_dir": str(paths.models),
            "logs_dir": str(paths.logs),
            "default_store": "ok" if done.store else "skipped",
            "model_download": "ok" if done.model else "skipped",
            "warnings": done.warnings,
        },
    )


def _lines(state: State, paths: Paths, config: Config, done: _Done) -> None:
    for warning in done.warnings:
        render.warn(state, warning)
    render.line(state, f"config: {paths.config_file}")
    render.line(state, f"data: {paths.data}")
    render.line(state, f"models: {paths.models}")
    render.line(state, f"logs: {paths.logs}")
    if not done.model:
        embedding = config.defaults.indexing.embedding
        render.line(state, f"model: {embedding.model} ({embedding.provider}), loaded when needed")
    if done.store:
        render.line(state, "next: localdb add FOLDER, then localdb search WORDS")

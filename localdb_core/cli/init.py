"""``init``: write the config, make the folders and the first store."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

import click

from localdb_core.cli import render
from localdb_core.cli.command import Command
from localdb_core.cli.scope import DEFAULT_STORE
from localdb_core.cli.state import State, daemon_named, pass_state
from localdb_core.config.document import read_text
from localdb_core.config.load import load_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config, is_written
from localdb_core.config.scaffold import SCHEMA_NAME, write_schema
from localdb_core.domain.errors import LocaldbError, StoreNotFound
from localdb_core.domain.reports import EngineState


@dataclass
class _Done:
    """What was done, and what went wrong on the way."""

    store: bool = False
    removed: bool = False
    model: bool = False
    warnings: list[str] = field(default_factory=list)


@click.command("init", cls=Command, examples=["localdb init", "localdb init --download-model"])
@click.option("--download-model", is_flag=True, help="Make sure that the model is there.")
@pass_state
def init(state: State, *, download_model: bool) -> None:
    """Make the config, the folders and a store called default.

    Other commands do the same when they find no config. Running it again is harmless.
    """
    from localdb_core.app import prepare  # every service

    path = find_config(state.config_path)
    if is_written(path):  # a broken file is reported and left alone (L-CFG-21)
        Paths.of(path, load_config(path)).check_layout()
    done = _Done()
    if not daemon_named():
        _open(state, done)
    paths, config = prepare(state.config_path)
    if SCHEMA_NAME in read_text(path):
        write_schema(path.parent)
    if download_model and done.store:
        _model(state, done)
    if state.json:
        _json(state, paths, done)
    else:
        _lines(state, paths, config, done)


def _open(state: State, done: _Done) -> None:
    """Make the database and the first store.

    L-CFG-24 keeps other commands from making a store beside a config that somebody wrote.
    Whoever types init asks for one, and where there was no database none was removed.
    In a database that is there already, a missing default store was removed, and stays away.
    """
    try:
        state.app(seed=True).stores.resolve(DEFAULT_STORE)
        done.store = True
    except StoreNotFound:
        done.removed = True
    except (LocaldbError, sqlite3.Error) as error:
        done.warnings.append(f"the database cannot be opened: {error}")


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
    if done.removed:
        render.line(state, "no store is called default; make one with: localdb store add default")
    if done.store:
        render.line(state, "next: localdb add FOLDER, then localdb search WORDS")

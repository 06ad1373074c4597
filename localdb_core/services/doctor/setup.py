"""The config file and the folders."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localdb_core.config.load import load_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config, is_written
from localdb_core.domain.errors import InvalidConfig
from localdb_core.domain.health import Check
from localdb_core.services.doctor.collect import of_error

LITTLE_SPACE: Final = 1 << 30
NO_SPACE: Final = 64 << 20
"""Bytes free below which a run is in danger, and below which one is bound to fail."""


@dataclass
class Setup:
    """What the config says; ``paths`` is None when that cannot be known."""

    config: Config | None = None
    paths: Paths | None = None


def config_checks(found: Setup, config_path: Path | None) -> Iterator[Check]:
    """Whether the config can be used; fills ``found``."""
    path = find_config(config_path)
    if not is_written(path):
        found.config = Config()
        found.paths = Paths.of(path, found.config)
        yield Check.ok("config", f"{path} is not there yet; the defaults hold")
        return
    try:
        config = load_config(path)
        paths = Paths.of(path, config)
    except InvalidConfig as error:
        yield Check.fail("config", f"{path}: {error.bare}", f"edit {path}")
        return
    found.config, found.paths = config, paths
    yield Check.ok("config", f"{path} can be used")
    mode = path.stat().st_mode
    if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Check.warn(
            "config permissions",
            f"others than you may change {path}, and with it which plugins run",
            f"chmod go-w {path}",
        )
    yield from _keys(config)


def _keys(config: Config) -> Iterator[Check]:
    """Variables that hold the keys of hosted embedders."""
    for provider in config.providers:
        name = provider.api_key_env
        if name and not os.environ.get(name):
            yield Check.warn(
                f"provider {provider.name}",
                f"the variable {name} for its key is not set",
                f"export {name}=KEY",
            )


def folder_checks(found: Setup) -> Iterator[Check]:
    """Whether there is somewhere to write, and room."""
    if found.paths is None:
        yield Check.warn("folders", "not looked at: the config says where they are")
        return
    try:
        found.paths.check_layout()
    except InvalidConfig as error:
        yield of_error("data folder", error)
    for name in ("data", "models", "logs"):
        yield _folder(f"{name} folder", getattr(found.paths, name))
    yield _space(found.paths.data)


def _folder(name: str, folder: Path) -> Check:
    remedy = f"make {folder} a folder that you may write, or set another in the config"
    existing = _existing(folder)
    if not os.path.isdir(existing):
        return Check.fail(name, f"{existing} is not a folder", remedy)
    if not os.access(existing, os.W_OK | os.X_OK):
        return Check.fail(name, f"{existing} cannot be written", remedy)
    made = "can be written" if existing == folder else "is not there yet and can be made"
    return Check.ok(name, f"{folder} {made}")


def _space(folder: Path) -> Check:
    free = shutil.disk_usage(_existing(folder)).free
    said = f"{free / (1 << 30):.1f} GB free at {folder}"
    remedy = "free some space, or set paths.data to a folder on another disk"
    if free < NO_SPACE:
        return Check.fail("disk space", f"only {free >> 20} MB free at {folder}", remedy)
    if free < LITTLE_SPACE:
        return Check.warn("disk space", f"only {free >> 20} MB free at {folder}", remedy)
    return Check.ok("disk space", said)


def _existing(path: Path) -> Path:
    """The path, or the nearest thing above it that is there."""
    for candidate in (path, *path.parents):
        if os.path.lexists(candidate):
            return candidate
    return path

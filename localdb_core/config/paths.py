"""Where the config, the data, the models and the logs are (spec §2.1)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from localdb_core.domain.errors import InvalidConfig

if TYPE_CHECKING:
    from platformdirs.api import PlatformDirsABC

    from localdb_core.config.model import Config

CONFIG_VARIABLE: Final = "LOCALDB_CONFIG"
CONFIG_NAME: Final = "config.yaml"

# What a release before 0.1 left in its data folder (L-CFG-02).
_OLD_LAYOUT: Final = ("runtime-state.db", "stores")


@dataclass(frozen=True, slots=True)
class Paths:
    """The files and folders of one configuration; none of them need exist."""

    config_file: Path
    data: Path
    models: Path
    logs: Path
    cache: Path

    @property
    def database(self) -> Path:
        """The catalog, which holds every store."""
        return self.data / "localdb.db"

    @property
    def indexes(self) -> Path:
        """One folder per plugin and store below it."""
        return self.data / "index"

    @classmethod
    def of(cls, config_file: Path, config: Config) -> Self:
        """The platform's folders, unless the config names others.

        A relative path in the config is below the folder of the config file, so it
        means the same from every working directory.
        """
        usual = usual_folders()
        base, written = config_file.parent, config.paths
        return cls(
            config_file=config_file,
            data=_below(base, written.data) or usual.data,
            models=_below(base, written.models) or usual.models,
            logs=_below(base, written.logs) or usual.logs,
            cache=usual.cache,
        )

    def check_layout(self) -> None:
        """Refuse a data folder of a release before 0.1. Raises InvalidConfig."""
        for name in _OLD_LAYOUT:
            if os.path.lexists(self.data / name):
                raise InvalidConfig(
                    f"{self.data} was made by a release before 0.1 (it holds {name}); "
                    "move it away, or set paths.data to another folder"
                )


@dataclass(frozen=True, slots=True)
class Usual:
    """The platform's own choice of folders."""

    config_file: Path
    data: Path
    models: Path
    logs: Path
    cache: Path


def usual_folders(platform: str = sys.platform) -> Usual:
    """Where this platform keeps such things. ``platform`` is as in ``sys.platform``."""
    dirs = _dirs(platform)
    data, cache = dirs.user_data_path, dirs.user_cache_path
    if platform == "darwin":  # config and data share a folder there
        logs, data = dirs.user_log_path, data / "data"
    else:
        logs = dirs.user_state_path / "logs"
    return Usual(
        config_file=dirs.user_config_path / CONFIG_NAME,
        data=data,
        models=cache / "models",
        logs=logs,
        cache=cache,
    )


def find_config(explicit: Path | None, environ: Mapping[str, str] | None = None) -> Path:
    """The config file: ``--config``, else LOCALDB_CONFIG, else the usual place (L-CFG-01).

    Raises:
        InvalidConfig: ``explicit`` is in a folder that does not exist (L-CFG-23).
    """
    environ = os.environ if environ is None else environ
    if explicit is not None:
        path = _expand(str(explicit)).absolute()
        if not os.path.isdir(path.parent):
            raise InvalidConfig(f"the folder of {path} does not exist; make it first")
        return path
    named = environ.get(CONFIG_VARIABLE, "")
    return _expand(named).absolute() if named else usual_folders().config_file


def is_written(path: Path) -> bool:
    """Whether there is a config, be it one that cannot be read; only then it is made.

    Acting by the defaults because a config is out of reach would be to act on other data.
    Raises InvalidConfig when it cannot be known.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InvalidConfig(f"cannot look for {path}: {error.strerror or error}") from error
    return True


def _dirs(platform: str) -> PlatformDirsABC:
    if platform == "darwin":
        from platformdirs.macos import MacOS as Dirs
    elif platform == "win32":
        from platformdirs.windows import Windows as Dirs  # type: ignore[assignment]
    else:
        from platformdirs.unix import Unix as Dirs  # type: ignore[assignment]
    return Dirs("localdb", appauthor=False)


def _below(base: Path, written: str | None) -> Path | None:
    return None if written is None else base / _expand(written)


def _expand(text: str) -> Path:
    if text != "~" and not text.startswith("~/"):
        return Path(text)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidConfig(f"cannot expand {text!r}: {error}") from error

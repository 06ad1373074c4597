"""The first run: a commented config that means exactly the defaults (spec §2.3)."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from localdb_core.config.document import SIZE_LIMIT
from localdb_core.config.paths import Paths, is_written
from localdb_core.domain.errors import StorageUnavailable
from localdb_core.domain.smallfile import read_small_file

SCHEMA_NAME: Final = "config.schema.json"
"""Written beside a new config, which names it in its first line."""

_TEMPLATE: Final = """\
# yaml-language-server: $schema=./config.schema.json
# Configuration of localdb. Every key is shown with its default; remove the '#' in
# front of a key (and of the section above it) to change it. Unknown keys are errors.
# localdb never changes this file. Stores and sources are not declared here: see
# localdb store --help and localdb source --help.
version: 1

# Which engine answers each half of a search. Fewer than about 20,000 pieces of text
# need neither plugin: exact and fts5 are built in and start faster.
index:
  {dense}dense: chroma      # exact, or an installed dense index
  {sparse}sparse: whoosh     # fts5, or an installed sparse index

defaults:
  indexing:
    # Which model turns texts into vectors. Changing it means embedding again.
    embedding:
      provider: onnx
      model: all-minilm-l6-v2   # or the path of a folder
    # Tried in this order. A list that you write must be installed.
    # parsers: [pdf, epub, office, html, markdown, plaintext]
    # max_file_mib: 512         # larger files are left unread
    # Largest chunks, as in {{prose: "256", messages: "512", code: "3000"}}, which are the
    # usual sizes: tokens, but characters for code. A change cuts the stored texts again.
    # chunking:
    #   preset_overrides: {{}}

# paths:              # null is the usual place of your system; ~/ is your home folder
#   data: null
#   models: null
#   logs: null

# search:
#   ranker: null              # an installed ranker
#   ranker_candidates: 50
#   ranker_budget_ms: 2000

# plugins:
#   disable: []               # names of plugins or distributions
#   only: null                # a list: load nothing else
#   pin: {{}}                   # plugin name: distribution that may use it
#   auto_parsers: true        # also try installed parsers that are not listed
#   chunkers: []              # chunkers of plugins, asked before the built-in ones
#   config: {{}}                # a section per plugin; secrets: {{env: NAME}} or {{file: PATH}}

# providers:                  # hosted embedders; keys stand in the environment, not here
#   - name: mine
#     kind: openai-compatible
#     base_url: https://example.org/v1
#     api_key_env: MY_KEY

# http:
#   user_agent: null
#   max_retries: 3
#   rate_limit:
#     requests_per_second: 1
#     burst: 4

# server:
#   bind: 127.0.0.1
#   port: 7700                # 0: any free port
#   job_workers: 1
"""

Installed = Callable[[str], bool]


def is_installed(distribution: str) -> bool:
    """Whether a distribution is there; nothing of it is imported."""
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def template(installed: Installed = is_installed) -> str:
    """The generated file; an index line is live only where its plugin is (L-CFG-25)."""
    dense, sparse = installed("localdb-chroma"), installed("localdb-whoosh")
    text = _TEMPLATE.format(dense="" if dense else "# ", sparse="" if sparse else "# ")
    return text if dense or sparse else text.replace("\nindex:\n", "\n# index:\n")


def write_config(path: Path, *, installed: Installed = is_installed) -> bool:
    """Write the generated config unless something is there; whether it was written.

    Several processes may do this at once: each writes a file of its own and links it
    into place, so nobody ever reads half a file (L-CFG-22).

    Raises:
        InvalidConfig: it cannot be known whether something is there.
        StorageUnavailable: the folder cannot be made or written.
    """
    if is_written(path):
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        wrote = _write_once(path, template(installed).encode())
    except OSError as error:
        raise StorageUnavailable(f"cannot write {path}: {error.strerror or error}") from error
    if wrote:
        write_schema(path.parent)
    return wrote


def write_schema(folder: Path) -> None:
    """What editors check the config against; one of another version of ours is replaced.

    Nothing of localdb reads it, so it may fail.
    """
    from localdb_core.config.schema import TITLE, schema_text

    path, content = folder / SCHEMA_NAME, schema_text().encode()
    with contextlib.suppress(OSError):
        if path.exists():
            there = read_small_file(path, limit=SIZE_LIMIT)
            if there == content or TITLE.encode() not in there:
                return
            path.unlink()
        _write_once(path, content)


def is_untouched(path: Path) -> bool:
    """Whether the file is still byte for byte what was generated (L-CFG-24).

    Plugins may have come or gone since, so every variant counts.
    """
    try:
        content = read_small_file(path, limit=SIZE_LIMIT)
    except OSError:
        return False
    variants = ((), ("localdb-chroma",), ("localdb-whoosh",), ("localdb-chroma", "localdb-whoosh"))
    return any(content == template(names.__contains__).encode() for names in variants)


def make_folders(paths: Paths) -> None:
    """The data, model and log folders. Raises StorageUnavailable."""
    for folder in (paths.data, paths.models, paths.logs):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageUnavailable(f"cannot make {folder}: {error.strerror or error}") from error


def _write_once(path: Path, content: bytes) -> bool:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return _link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def _link(temporary: str, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):
        # A file system without hard links. Racing writers all write the same bytes.
        if path.exists():
            return False
        os.replace(temporary, path)
    return True

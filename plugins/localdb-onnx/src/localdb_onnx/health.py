"""What ``localdb doctor`` is told: whether the model's files are there, without loading them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from localdb_core.domain import ModelMissing
from localdb_core.plugin import Check, CheckContext
from localdb_onnx import minilm

_FILES = ("model.onnx", "tokenizer.json")


def checks(context: CheckContext) -> Iterator[Check]:
    """Nothing when the configured model is another embedder's."""
    if not context.model:
        return
    if context.model.lower() != minilm.NAME:
        yield _folder(Path(context.model).expanduser())
        return
    try:
        weights = minilm.weights_path()
    except ModelMissing as error:
        message, _, remedy = error.bare.rpartition("; ")
        yield Check.fail("model", message, remedy)
    else:
        yield Check.ok("model", f"{minilm.NAME} in {weights.parent}")


def _folder(path: Path) -> Check:
    missing = [name for name in _FILES if not (path / name).is_file()]
    if missing:
        return Check.fail(
            "model",
            f"{path} has no {' and no '.join(missing)}",
            f"put it there, or set defaults.indexing.embedding.model: {minilm.NAME}",
        )
    return Check.ok("model", f"the folder {path}")

"""A model in a local folder: ``model.onnx``, ``tokenizer.json`` and the usual side files.

Read, when they are there, as sentence-transformers writes them:

* ``sentence_bert_config.json``: ``max_seq_length``;
* ``config.json``: ``max_position_embeddings`` caps it;
* ``1_Pooling/config.json``: mean (the default) or the first token;
* ``config_sentence_transformers.json``: ``prompts`` put before queries and passages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from localdb_core.domain import InvalidConfig, ModelMissing

Pooling = Literal["mean", "cls"]

_DEFAULT_TOKENS = 512


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What a folder says about its model.

    Attributes:
        digest: hash over the model's and the tokenizer's files.
    """

    path: Path
    max_tokens: int
    pooling: Pooling
    prefixes: Mapping[str, str]
    digest: str

    @property
    def model(self) -> Path:
        """The ONNX file."""
        return self.path / "model.onnx"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer file."""
        return self.path / "tokenizer.json"

    @classmethod
    def read(cls, path: Path) -> ModelFolder:
        """Look at the folder without loading the model.

        Raises:
            ModelMissing: the folder, its model or its tokenizer is not there.
            InvalidConfig: a side file asks for what this plugin cannot do.
        """
        if not path.is_dir():
            raise ModelMissing(
                f"there is no model folder {path}; give the path of one that exists, "
                "or the name all-minilm-l6-v2"
            )
        for name in ("model.onnx", "tokenizer.json"):
            if not (path / name).is_file():
                raise ModelMissing(f"the model folder {path} has no {name}; put it there")
        return cls(
            path=path,
            max_tokens=_max_tokens(path),
            pooling=_pooling(path / "1_Pooling" / "config.json"),
            prefixes=_prefixes(path / "config_sentence_transformers.json"),
            digest=_digest(path),
        )


def _max_tokens(path: Path) -> int:
    wanted = _json(path / "sentence_bert_config.json").get("max_seq_length")
    limit = _json(path / "config.json").get("max_position_embeddings")
    known = [size for size in (wanted, limit) if isinstance(size, int) and size > 2]
    return min(known) if known else _DEFAULT_TOKENS


def _pooling(path: Path) -> Pooling:
    settings = _json(path)
    modes = [name for name, value in settings.items() if value is True and "pooling_mode" in name]
    match modes:
        case [] | ["pooling_mode_mean_tokens"]:
            return "mean"
        case ["pooling_mode_cls_token"]:
            return "cls"
    raise InvalidConfig(f"{path} asks for {', '.join(modes)}; only mean or cls pooling is known")


def _prefixes(path: Path) -> dict[str, str]:
    prompts = _json(path).get("prompts")
    if not isinstance(prompts, dict):
        return {}
    found = {
        "query": prompts.get("query"),
        "passage": prompts.get("passage") or prompts.get("document"),
    }
    return {role: text for role, text in found.items() if isinstance(text, str) and text}


def _json(path: Path) -> dict[str, Any]:  # Any: JSON values
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidConfig(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise InvalidConfig(f"{path} must hold an object, found {type(value).__name__}")
    return value


def _digest(path: Path) -> str:
    """Hash over the tokenizer, the model and its external data (``model.onnx_data``)."""
    whole = hashlib.sha256()
    for file in (path / "tokenizer.json", *sorted(path.glob("model.onnx*"))):
        try:
            with file.open("rb") as stream:
                whole.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise ModelMissing(
                f"{file} cannot be read ({error.strerror}); make it readable"
            ) from error
    return whole.hexdigest()

"""What the tests share: the default embedder, and a tiny model written with our own codec."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from localdb_onnx.embedder import OnnxEmbedder, build
from localdb_onnx.onnx_file import GraphWriter, Port

from localdb_core.plugin import EmbedderContext

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "lease", "may", "river", "castle", "query", ":")
DIMENSION = 8


@pytest.fixture(scope="session")
def minilm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("minilm")


@pytest.fixture(scope="session")
def minilm(minilm_cache: Path) -> Iterator[OnnxEmbedder]:
    embedder = build(EmbedderContext(plugin="onnx", cache_dir=minilm_cache))
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def write_folder() -> Callable[..., Path]:
    return _write_folder


def _write_folder(folder: Path, *, pooled: bool = False, inputs: tuple[str, ...] = ()) -> Path:
    """Write ``model.onnx`` and ``tokenizer.json``; a token's vector is a row of random numbers."""
    folder.mkdir(parents=True)
    table = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)
    graph = GraphWriter()
    value = graph.add("Gather", graph.tensor("table", table), "input_ids")
    shape: tuple[int | str, ...] = ("batch", "tokens", DIMENSION)
    name = "last_hidden_state"
    if pooled:
        value = graph.add("ReduceMean", value, axes=[1], keepdims=0)
        name, shape = "sentence_embedding", ("batch", DIMENSION)
    ports = [Port(port, np.int64, ("batch", "tokens")) for port in ("input_ids", *inputs)]
    model = graph.model(inputs=ports, outputs=[(Port(name, np.float32, shape), value)])
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(_tokenizer().to_str(), encoding="utf-8")
    return folder


def _tokenizer() -> tokenizers.Tokenizer:
    ids = {word: number for number, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    made.enable_truncation(4)  # files found in the wild have it; the plugin must undo it
    made.enable_padding(length=4)
    return made

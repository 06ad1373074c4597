"""A model in a local folder works with the usual side files, and says what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from localdb_onnx.embedder import OnnxEmbedder, build

from localdb_core.domain import InvalidConfig, ModelMissing
from localdb_core.plugin import EmbedderContext

WriteFolder = Callable[..., Path]


def load(folder: Path) -> OnnxEmbedder:
    return build(EmbedderContext(plugin="onnx", model=str(folder)))


def side_file(folder: Path, name: str, value: Any) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize(
    "inputs", [(), ("attention_mask",), ("attention_mask", "token_type_ids")], ids=len
)
@pytest.mark.parametrize("pooled", [False, True])
def test_token_vectors_and_pooled_vectors_give_the_same(
    write_folder: WriteFolder, tmp_path: Path, inputs: tuple[str, ...], pooled: bool
) -> None:
    plain = load(write_folder(tmp_path / "plain"))
    other = load(write_folder(tmp_path / "other", pooled=pooled, inputs=inputs))
    texts = ["lease may river", "", "castle " * 20]

    vectors = other.embed(texts, "passage")

    assert vectors.shape == (3, other.card.dimension) == (3, 8)
    np.testing.assert_allclose(vectors, plain.embed(texts, "passage"), atol=1e-6)
    assert other.count_tokens(texts) == [5, 2, 22]


def test_the_folder_limits_the_input(write_folder: WriteFolder, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    assert load(folder).card.max_tokens == 512
    side_file(folder, "config.json", {"max_position_embeddings": 64})
    assert load(folder).card.max_tokens == 64
    side_file(folder, "sentence_bert_config.json", {"max_seq_length": 5})

    embedder = load(folder)

    assert embedder.card.max_tokens == 5
    vectors = embedder.embed(["lease may river", "lease may river castle"], "passage")
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_prompts_are_put_before_texts_by_role(write_folder: WriteFolder, tmp_path: Path) -> None:
    plain = load(write_folder(tmp_path / "plain"))
    folder = write_folder(tmp_path / "model")
    prompts = {"query": "query: ", "document": "lease : "}
    side_file(folder, "config_sentence_transformers.json", {"prompts": prompts})

    embedder = load(folder)

    assert embedder.card.prefixes == {"query": "query: ", "passage": "lease : "}
    assert embedder.count_tokens(["may"]) == [5]
    np.testing.assert_array_equal(
        embedder.embed(["may"], "query"), plain.embed(["query: may"], "query")
    )
    np.testing.assert_array_equal(
        embedder.embed(["may"], "passage"), plain.embed(["lease : may"], "passage")
    )


def test_the_first_token_is_taken_when_the_folder_says_so(
    write_folder: WriteFolder, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "model")
    side_file(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})

    vectors = load(folder).embed(["lease", "river"], "passage")

    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_another_pooling_is_refused(write_folder: WriteFolder, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    side_file(folder, "1_Pooling/config.json", {"pooling_mode_lasttoken": True})

    with pytest.raises(InvalidConfig, match="asks for pooling_mode_lasttoken; only mean or cls"):
        load(folder)


def test_the_fingerprint_follows_whatever_changes_vectors(
    write_folder: WriteFolder, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "model")
    same = write_folder(tmp_path / "elsewhere" / "copy")
    seen = [load(folder).card.fingerprint]
    assert load(same).card.fingerprint == seen[0]

    side_file(folder, "sentence_bert_config.json", {"max_seq_length": 64})
    seen.append(load(folder).card.fingerprint)
    side_file(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    seen.append(load(folder).card.fingerprint)
    side_file(folder, "config_sentence_transformers.json", {"prompts": {"query": "query: "}})
    seen.append(load(folder).card.fingerprint)

    assert len(set(seen)) == len(seen)


@pytest.mark.req("L-EMB-21")
@pytest.mark.parametrize("gone", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(write_folder: WriteFolder, tmp_path: Path, gone: str) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / gone).unlink()

    with pytest.raises(ModelMissing, match=f"has no {gone}; put it there"):
        load(folder)


@pytest.mark.req("L-EMB-21")
def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="there is no model folder .*nowhere"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "message"),
    [("model.onnx", "cannot be loaded by onnxruntime"), ("tokenizer.json", "not a tokenizer file")],
)
def test_a_damaged_file_is_named(
    write_folder: WriteFolder, tmp_path: Path, name: str, message: str
) -> None:
    folder = write_folder(tmp_path / "model")
    path = folder / name
    path.write_bytes(path.read_bytes()[:100])

    with pytest.raises(ModelMissing, match=message):
        load(folder)


def test_strange_inputs_are_refused(write_folder: WriteFolder, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", inputs=("pixels",))

    with pytest.raises(InvalidConfig, match=r"wants the inputs \['pixels'\]"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "config_sentence_transformers.json"])
def test_a_damaged_side_file_is_named(write_folder: WriteFolder, tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / name).write_text("{", encoding="utf-8")

    with pytest.raises(InvalidConfig, match=f"{name} cannot be read"):
        load(folder)

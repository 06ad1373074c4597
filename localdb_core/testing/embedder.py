"""What every embedder owes the pipeline, as tests to inherit.

class TestOnnx(EmbedderContract):
    component = "onnx/onnx"
    model = "all-minilm-l6-v2"

The plugin must be installed. Override :meth:`EmbedderContract.spec` and
:meth:`EmbedderContract.build` to test an embedder that is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from localdb_core.plugin import Embedder, EmbedderContext, EmbedderSpec, ProviderSettings, Role
from localdb_core.testing.component import attribute_of, find_spec, offline, settings_of

if TYPE_CHECKING:
    from localdb_core.plugin.protocols import Vectors

ROLES: tuple[Role, ...] = ("query", "passage")
TEXTS = (
    "The lease ends in May.",
    "",
    "A much longer text about rivers, their sources and the towns on their banks. " * 3,
    "naïve café, 日本語, Привет, 😀",
    "The lease ends in May.",
)
"""Sentences of different lengths and scripts, one of them empty, one of them twice."""


class EmbedderContract:
    """Inherit, name the component and its model.

    Attributes:
        component: ``plugin/name``.
        model: the configured model name or path; empty is the embedder's default.
        settings: the plugin's config section; its model is built from this.
        provider: the config's ``providers[]`` entry for it.
        tolerance: how far a value may be off between one text alone and in a batch,
            when the card does not say ``batch_invariant``.
    """

    component: ClassVar[str]
    model: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values
    provider: ClassVar[ProviderSettings | None] = None
    tolerance: ClassVar[float] = 1e-3

    @classmethod
    def spec(cls) -> EmbedderSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_spec(cls.component, EmbedderSpec)

    @classmethod
    def build(cls, folder: Path) -> Embedder:
        """A new embedder that keeps its files in ``folder``, as the host would build it."""
        context = EmbedderContext(
            plugin=cls.component.partition("/")[0],
            config=settings_of(cls.component, cls.settings),
            data_dir=folder / "data",
            cache_dir=folder / "cache",
            model=cls.model,
            models_dir=folder / "models",
            provider=cls.provider,
        )
        embedder: Embedder = attribute_of(cls.spec().target)(context)
        return embedder

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Where the embedders of this class keep their files."""
        return tmp_path_factory.mktemp("embedder")

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, folder: Path) -> Iterator[Embedder]:
        """One embedder for all tests of the class; closed at the end."""
        embedder = cls.build(folder)
        yield embedder
        embedder.close()

    def test_the_card_is_complete_and_agrees_with_the_description(self, embedder: Embedder) -> None:
        """Dimension, longest input and fingerprint are what storage is checked against."""
        card = embedder.card

        assert card.name
        assert card.fingerprint
        assert card.dimension > 0
        assert card.max_tokens > 0
        assert card.encoding == self.spec().encoding
        assert set(card.prefixes) <= set(ROLES)

    @pytest.mark.parametrize("role", ROLES)
    def test_vectors_have_the_declared_shape_and_unit_length(
        self, embedder: Embedder, role: Role
    ) -> None:
        """Float32, finite, one row a text; also for an empty text."""
        vectors = embedder.embed(TEXTS, role)

        _check(vectors, rows=len(TEXTS), embedder=embedder)

    @pytest.mark.parametrize("role", ROLES)
    def test_no_texts_give_an_empty_array(self, embedder: Embedder, role: Role) -> None:
        """Shape (0, dimension), so that results can be joined."""
        vectors = embedder.embed([], role)

        assert vectors.shape == (0, embedder.card.dimension)
        assert vectors.dtype == np.float32
        assert embedder.count_tokens([]) == []

    @pytest.mark.parametrize("role", ROLES)
    def test_a_text_has_the_same_vector_alone_and_in_a_batch(
        self, embedder: Embedder, role: Role
    ) -> None:
        """Exactly the same, if the card says so; this also shows that order is kept."""
        together = embedder.embed(TEXTS, role)
        alone = np.concatenate([embedder.embed([text], role) for text in TEXTS])

        allowed = 0.0 if embedder.card.batch_invariant else self.tolerance
        np.testing.assert_allclose(together, alone, rtol=0, atol=allowed)

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        """Or the tests of order above would prove nothing."""
        first, second = embedder.embed([TEXTS[0], TEXTS[2]], "passage")

        assert float(first @ second) < 0.999

    def test_an_over_long_text_is_cut_not_refused(self, embedder: Embedder) -> None:
        """``count_tokens`` reports the excess; the vector is that of the beginning."""
        long = "river " * (2 * embedder.card.max_tokens)
        longer = long + "castle " * 50

        vectors = embedder.embed([long, longer], "passage")

        assert embedder.count_tokens([long])[0] > embedder.card.max_tokens
        _check(vectors, rows=2, embedder=embedder)
        np.testing.assert_allclose(vectors[0], vectors[1], rtol=0, atol=self.tolerance)

    def test_tokens_are_counted_one_by_one_as_in_a_batch(self, embedder: Embedder) -> None:
        """A longer text never has fewer tokens than its beginning."""
        counts = embedder.count_tokens(TEXTS)

        assert counts == [embedder.count_tokens([text])[0] for text in TEXTS]
        assert min(counts) >= 0
        assert counts[2] > counts[0] >= counts[1]

    def test_what_is_counted_agrees_with_what_is_cut(self, embedder: Embedder) -> None:
        """A text within the limit is read to its last word; over it, the end is not read."""
        fits = _largest_that_fits(embedder)
        full = "river " * fits

        inside = embedder.embed([full, "river " * (fits - 1) + "castle"], "passage")
        outside = embedder.embed([full, full + "castle"], "passage")

        assert not np.allclose(inside[0], inside[1], rtol=0, atol=1e-6)
        if embedder.count_tokens([full])[0] == embedder.card.max_tokens:
            np.testing.assert_allclose(outside[0], outside[1], rtol=0, atol=self.tolerance)

    @hypothesis.given(text=st.text(max_size=60))
    @hypothesis.settings(
        max_examples=25,
        deadline=None,
        # Several classes of one run inherit this test; that is the point of it.
        suppress_health_check=[hypothesis.HealthCheck.differing_executors],
    )
    def test_any_text_at_all_can_be_embedded(self, embedder: Embedder, text: str) -> None:
        """Control characters, unassigned code points, emoji: documents hold them all."""
        vectors = embedder.embed([text], "passage")

        _check(vectors, rows=1, embedder=embedder)
        assert embedder.count_tokens([text])[0] >= 0

    def test_lone_surrogates_can_be_embedded(self, embedder: Embedder) -> None:
        """They come from damaged file names and do not fit into UTF-8."""
        _check(embedder.embed(["a\udcff b"], "passage"), rows=1, embedder=embedder)
        assert embedder.count_tokens(["a\udcff b"])[0] > 0

    def test_two_embedders_of_one_model_agree(self, embedder: Embedder, folder: Path) -> None:
        """Same fingerprint, same vectors, after a restart too."""
        other = self.build(folder)
        try:
            assert other.card == embedder.card
            np.testing.assert_allclose(
                other.embed(TEXTS, "passage"),
                embedder.embed(TEXTS, "passage"),
                rtol=0,
                atol=1e-6,
            )
        finally:
            other.close()

    def test_threads_may_call_side_by_side(self, embedder: Embedder) -> None:
        """What callers get together is what one gets alone; also while others count."""
        alone = embedder.embed(TEXTS, "passage")
        callers = max(2, self.spec().callers)

        def work(_: int) -> tuple[Vectors, list[int]]:
            return embedder.embed(TEXTS, "passage"), embedder.count_tokens(TEXTS)

        with ThreadPoolExecutor(callers) as pool:
            results = list(pool.map(work, range(callers * 3)))

        for vectors, counts in results:
            np.testing.assert_allclose(vectors, alone, rtol=0, atol=self.tolerance)
            assert counts == embedder.count_tokens(TEXTS)

    def test_an_offline_embedder_opens_no_connection(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Skipped for one whose description says ``needs_network``."""
        offline(monkeypatch, self.spec())
        embedder = self.build(folder)
        embedder.embed(TEXTS, "query")
        embedder.close()

    def test_nothing_is_printed(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Standard output may be a protocol; native libraries write to the descriptor."""
        embedder = self.build(folder)
        embedder.embed(TEXTS, "query")
        embedder.close()

        assert capfd.readouterr().out == ""


def _check(vectors: Vectors, *, rows: int, embedder: Embedder) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (rows, embedder.card.dimension)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=0, atol=1e-3)


def _largest_that_fits(embedder: Embedder) -> int:
    """How many times a common word fits into the longest input."""
    most = embedder.card.max_tokens
    counts = embedder.count_tokens([_repeated(times) for times in range(1, most + 1)])
    fitting: Sequence[int] = [n for n, count in enumerate(counts, 1) if count <= most]
    assert fitting, "not even one word fits into the longest input"
    return fitting[-1]


def _repeated(times: int) -> str:
    return "river " * times

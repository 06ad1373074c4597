"""What every parser owes the pipeline, as tests to inherit.

class TestRtf(ParserContract):
    component = "rtf/rtf"
    samples = [Sample("letter.rtf", contains=["Dear reader"], title="Letter")]
    foreign = [b"%PDF-1.7 not mine", b""]

A sample is a file in the folder ``samples`` beside the test module, or bytes that
the test makes: ``Sample("letter.rtf", content=make_letter)``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from localdb_core.domain.errors import LocaldbError
from localdb_core.plugin import (
    HEAD_SIZE,
    Declined,
    Document,
    Parser,
    ParseResult,
    ParserSpec,
    PluginContext,
    Probe,
    no_progress,
)
from localdb_core.testing.component import (
    attribute_of,
    find_spec,
    is_installed,
    no_connections,
    settings_of,
)

_THREADS = 4


@dataclass(frozen=True)
class Sample:
    """A file the parser must read.

    Attributes:
        name: the file's name; also where it lies, when ``content`` is not given.
        contains: texts that must come out, compared with white space collapsed.
        title: what ``metadata.title`` must be; None is not looked at.
        content: the bytes, or a function that makes them.
    """

    name: str
    contains: Sequence[str] = ()
    title: str | None = None
    content: bytes | Callable[[], bytes] | None = None

    def __str__(self) -> str:
        return self.name

    def read(self, folder: Path) -> bytes:
        """The sample's bytes."""
        if self.content is None:
            return (folder / self.name).read_bytes()
        return self.content if isinstance(self.content, bytes) else self.content()


class ParserContract:
    """Inherit, name the component, give samples.

    Attributes:
        component: ``plugin/name``; the plugin must be installed.
        samples: files it must read.
        foreign: bytes it must decline although the name claims they are its own.
        settings: the plugin's config section; its model is built from this.
        truncations: at most so many cuts are tried for each sample.
    """

    component: ClassVar[str]
    samples: ClassVar[Sequence[Sample]] = ()
    foreign: ClassVar[Sequence[bytes]] = ()
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values
    truncations: ClassVar[int] = 64

    @classmethod
    def folder(cls) -> Path:
        """Where samples without ``content`` lie."""
        origin = sys.modules[cls.__module__].__file__
        return Path(origin or ".").parent / "samples"

    @classmethod
    def spec(cls) -> ParserSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_parser_spec(cls.component)

    @classmethod
    def build(cls) -> Parser:
        """A new parser, as the host would build it."""
        return build_parser(cls.component, cls.spec(), settings=cls.settings)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give every test that asks for one each sample, or each foreign text."""
        for name, values in (("sample", self.samples), ("stranger", self.foreign)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, list(values), ids=_short)

    def test_a_sample_gives_the_text_and_title_it_should(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """Every fragment is found; the title is the one expected."""
        document = _document(self._parse(sample, tmp_path), sample)

        text = _squeeze(text_of(document))
        missing = [part for part in sample.contains if _squeeze(part) not in text]
        assert not missing, f"{sample}: not in the text: {missing}; text begins {text[:300]!r}"
        if sample.title is not None:
            assert document.metadata.title == sample.title

    def test_a_sample_is_claimed_by_the_description(self, sample: Sample) -> None:
        """Name or magic lead the pipeline to this parser."""
        spec = self.spec()
        probe = probe_of(sample.name, sample.read(self.folder()))

        named = probe.suffix in spec.suffixes or probe.name in spec.filenames
        assert named or probe.starts_with(*spec.magic), f"{sample}: nothing in the spec claims it"

    def test_a_document_has_either_markdown_or_blocks_and_survives_json(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        """A worker process sends documents home as JSON."""
        document = _document(self._parse(sample, tmp_path), sample)

        there = json.loads(json.dumps(document.to_json()))
        assert (document.markdown is None) != (document.blocks is None)
        assert Document.from_json(there).to_json() == there

    def test_page_starts_rise_and_lie_within_the_text(self, sample: Sample, tmp_path: Path) -> None:
        """Offsets count UTF-8 bytes and fall between characters; pages start at 1."""
        document = _document(self._parse(sample, tmp_path), sample)

        raw = (document.markdown or "").encode()
        offsets = [offset for offset, _ in document.page_starts]
        pages = [page for _, page in document.page_starts]
        assert offsets == sorted(set(offsets))
        assert pages == sorted(set(pages))
        assert all(page >= 1 for page in pages)
        for offset in offsets:
            assert 0 <= offset <= len(raw)
            raw[offset:].decode()

    def test_the_same_bytes_give_the_same_document(self, sample: Sample, tmp_path: Path) -> None:
        """Two parsers, two folders, one result."""
        first, second = tmp_path / "first", tmp_path / "second"
        first.mkdir()
        second.mkdir()

        assert _shape(self._parse(sample, first)) == _shape(self._parse(sample, second))

    def test_foreign_bytes_are_declined(self, stranger: bytes, tmp_path: Path) -> None:
        """Never an error, never half a document: the next parser may know better."""
        suffix = next(iter(self.spec().suffixes), "")
        result = parse_bytes(self.build(), stranger, name=f"foreign{suffix}", folder=tmp_path)

        assert isinstance(result, Declined), f"{stranger[:60]!r} was not declined"
        assert result.reason

    def test_every_truncation_ends_in_an_answer(self, sample: Sample, tmp_path: Path) -> None:
        """Half a download is a document, a decline or an error of ours; never a crash."""
        content = sample.read(self.folder())
        parser = self.build()

        for cut in _cuts(len(content), self.truncations):
            try:
                parse_bytes(parser, content[:cut], name=sample.name, folder=tmp_path)
            except LocaldbError:
                continue
            except Exception as error:
                error.add_note(f"{sample.name} cut after {cut} of {len(content)} bytes")
                raise

    def test_one_parser_serves_several_threads(self, tmp_path: Path) -> None:
        """What threads get side by side is what one gets alone."""
        parser = self.build()
        alone = [_shape(self._parse(sample, tmp_path)) for sample in self.samples]
        jobs = [(number, sample) for number in range(_THREADS) for sample in self.samples]
        for number in range(_THREADS):
            (tmp_path / str(number)).mkdir()

        def work(job: tuple[int, Sample]) -> dict[str, Any]:
            number, sample = job
            return _shape(self._parse(sample, tmp_path / str(number), parser=parser))

        with ThreadPoolExecutor(_THREADS) as pool:
            together = list(pool.map(work, jobs))

        assert together == alone * _THREADS

    def test_nothing_is_printed_to_standard_output(
        self, sample: Sample, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The descriptor belongs to whoever runs us, maybe to a protocol."""
        self._parse(sample, tmp_path)

        assert capfd.readouterr().out == ""

    def test_parsing_opens_no_connection(
        self, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Documents point at the network; reading them must not."""

        no_connections(monkeypatch)

        self._parse(sample, tmp_path)

    def _parse(self, sample: Sample, folder: Path, *, parser: Parser | None = None) -> ParseResult:
        content = sample.read(self.folder())
        return parse_bytes(parser or self.build(), content, name=sample.name, folder=folder)


def find_parser_spec(component: str) -> ParserSpec:
    """The description of ``plugin/name``, from the installed entry point.

    Raises:
        LookupError: no such plugin is installed, or it offers no such parser.
    """
    return find_spec(component, ParserSpec)


def build_parser(
    component: str,
    spec: ParserSpec,
    *,
    settings: Mapping[str, Any] | None = None,  # Any: config values
) -> Parser:
    """Import the target and call it with a context, as the host does."""
    plugin = component.partition("/")[0]
    config = settings_of(component, settings) if settings or is_installed(plugin) else None
    parser: Parser = attribute_of(spec.target)(PluginContext(plugin=plugin, config=config))
    return parser


def probe_of(name: str, content: bytes) -> Probe:
    """The first look the pipeline would take at these bytes."""
    return Probe(name=name, head=content[:HEAD_SIZE], size=len(content), uri=f"file:///{name}")


def parse_bytes(parser: Parser, content: bytes, *, name: str, folder: Path) -> ParseResult:
    """Write the bytes to ``folder`` under their name and parse that file."""
    path = folder / name
    path.write_bytes(content)
    return parser.parse(path, probe_of(name, content), no_progress)


def text_of(document: Document) -> str:
    """The document's text: its Markdown, or its blocks joined by a blank line."""
    if document.markdown is not None:
        return document.markdown
    return "\n\n".join(block.text for block in document.blocks or ())


def _document(result: ParseResult, sample: Sample) -> Document:
    assert isinstance(result, Document), f"{sample}: {result}"
    return result


def _shape(result: ParseResult) -> dict[str, Any]:  # Any: JSON values
    return result.to_json() if isinstance(result, Document) else {"declined": result.reason}


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _short(value: object) -> str:
    return repr(value[:20]) if isinstance(value, bytes) else str(value)


def _cuts(size: int, most: int) -> list[int]:
    """Lengths shorter than ``size``: all of them, or an even choice with both ends dense."""
    if size <= most:
        return list(range(size))
    edge = max(1, most // 8)
    even = {size * step // most for step in range(most)}
    return sorted(even | set(range(edge)) | set(range(size - edge, size)))

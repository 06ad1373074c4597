"""The parser chain on one file: who is asked, and what ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from localdb_core.domain import ExtractionFailed, UnsupportedFormat
from localdb_core.host.owned import Owned
from localdb_core.host.registry import Registry
from localdb_core.host.resolve import parser_chain
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.pool import ParserPool
from localdb_core.plugin import (
    Declined,
    Document,
    Parser,
    ParseResult,
    ParserSpec,
    PluginContext,
    Probe,
    Progress,
)

Behaviour = Callable[[], ParseResult]


class _Parser:
    """Does what it is told and remembers that it was asked."""

    def __init__(self, name: str, behaviour: Behaviour, asked: list[str]) -> None:
        self._name = name
        self._behaviour = behaviour
        self._asked = asked

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        self._asked.append(self._name)
        return self._behaviour()


class Desk:
    """A chain of parsers for ``.x`` files, in the order of a config."""

    def __init__(self, order: list[str], **behaviours: Behaviour) -> None:
        self.asked: list[str] = []
        self._behaviours = behaviours
        registry = Registry(
            parsers=tuple(
                Owned(
                    name,
                    "acme",
                    "1",
                    ParserSpec(name=name, target="m:P", suffixes=(".x",), runs="thread"),
                )
                for name in sorted(behaviours)
            )
        )
        chain = parser_chain(registry, order, user_wrote=True, auto=True)
        self._runner = ParserRunner(
            chain,
            ParserPool(1, stop=threading.Event()),
            context=lambda plugin: PluginContext(plugin=plugin),
            build=self._build,
        )

    def _build(self, owned: Owned[ParserSpec], context: PluginContext) -> Parser:
        return _Parser(owned.value.name, self._behaviours[owned.value.name], self.asked)

    def parse(self) -> str:
        """The text of the document, and who made it."""
        parsed = self._runner.parse(Path("a.x").absolute(), Probe("a.x", b""))
        return f"{parsed.document.markdown} by {parsed.parser.full_id}"


def document() -> ParseResult:
    return Document(markdown="text")


def decline() -> ParseResult:
    return Declined("not mine")


def fail() -> ParseResult:
    raise ExtractionFailed("it ends inside an image")


def crash() -> ParseResult:
    raise KeyError("font")


def refuse() -> ParseResult:
    raise UnsupportedFormat("it needs a password")


@pytest.mark.req("L-PAR-01")
@pytest.mark.parametrize(
    ("order", "winner"), [(["one", "two"], "one/one"), (["two", "one"], "two/two")]
)
def test_the_first_document_wins_and_the_order_of_the_config_decides(
    order: list[str], winner: str
) -> None:
    desk = Desk(order, one=document, two=document)

    assert desk.parse() == f"text by {winner}"
    assert desk.asked == order[:1]


@pytest.mark.req("L-PAR-01")
def test_who_declines_passes_the_file_on_to_the_next_listed_or_not() -> None:
    desk = Desk(["two", "one"], one=decline, two=decline, unlisted=document)

    assert desk.parse() == "text by unlisted/unlisted"
    assert desk.asked == ["two", "one", "unlisted"]


@pytest.mark.req("L-PAR-01")
@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        (fail, ExtractionFailed, "it ends inside an image"),
        (refuse, UnsupportedFormat, "it needs a password"),
        (crash, ExtractionFailed, "the parser crashed: KeyError: 'font'"),
    ],
)
def test_an_error_ends_the_chain(failure: Behaviour, error: type[Exception], message: str) -> None:
    desk = Desk(["one", "two"], one=failure, two=document)

    with pytest.raises(error) as caught:
        desk.parse()

    assert str(caught.value).startswith("one/one: ")
    assert message in str(caught.value)
    assert desk.asked == ["one"]


@pytest.mark.req("L-PAR-01")
def test_a_file_that_all_decline_is_unsupported_with_every_reason() -> None:
    desk = Desk(["two", "one"], one=decline, two=decline)

    with pytest.raises(UnsupportedFormat, match="two/two: not mine; one/one: not mine$"):
        desk.parse()


@pytest.mark.req("L-PAR-02")
def test_after_a_crash_the_same_parser_reads_the_next_file() -> None:
    answers = iter([crash, document])
    desk = Desk(["one"], one=lambda: next(answers)())

    with pytest.raises(ExtractionFailed, match="crashed"):
        desk.parse()

    assert desk.parse() == "text by one/one"

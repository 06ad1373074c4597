"""What every tool owes agents, as tests to inherit.

class TestMyTool(ToolContract):
    component = "mine/mine_count"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{}, {"store": "default"}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"store": "no such store"}]

The plugin must be installed. Override :meth:`ToolContract.spec` to test a tool that
is not.
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from pydantic import BaseModel, ValidationError

from localdb_core.app import LocalDB
from localdb_core.domain.errors import LocaldbError
from localdb_core.plugin import (
    CORE_SURFACE,
    Tool,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSpec,
)
from localdb_core.testing.app import make_app
from localdb_core.testing.component import attribute_of, find_spec, settings_of

DOCUMENTS: Final = {
    "lease.md": "# Lease\n\nThe lease of the lighthouse ends in May.\n",
    "birds.md": "# Birds\n\nGrey herons nest in colonies beside the harbour.\n",
}
"""What the store ``default`` of the contract's application holds."""


class ToolContract:
    """Inherit, name the component, give calls.

    Attributes:
        component: ``plugin/name``.
        settings: the plugin's config section; its model is built from this.
        closed: False for arguments that ignore what they do not know.
        most_characters: the longest text it may answer with.
    """

    component: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values
    closed: ClassVar[bool] = True
    most_characters: ClassVar[int] = 100_000

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:  # Any: JSON values
        """Arguments that must be answered; at least one."""
        return [{}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:  # Any: JSON values
        """Arguments that fit the model and must be refused with a code."""
        return []

    @classmethod
    def spec(cls) -> ToolSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_spec(cls.component, ToolSpec)

    @classmethod
    def build(cls, app: LocalDB) -> Tool:
        """A new tool, as a server would build it."""
        context = ToolContext(
            plugin=cls.component.partition("/")[0],
            config=settings_of(cls.component, cls.settings),
            data_dir=app.paths.data / "tool",
            cache_dir=app.paths.cache / "tool",
            app=app.services(),
        )
        tool: Tool = attribute_of(cls.spec().target)(context)
        return tool

    @classmethod
    def model(cls) -> type[BaseModel]:
        """The model of the arguments."""
        model: type[BaseModel] = attribute_of(cls.spec().arguments)
        return model

    @pytest.fixture(scope="class")
    @classmethod
    def app(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
        """An application whose store ``default`` holds :data:`DOCUMENTS`, indexed."""
        folder = tmp_path_factory.mktemp("tool")
        (folder / "documents").mkdir()
        for name, text in DOCUMENTS.items():
            (folder / "documents" / name).write_text(text, encoding="utf-8")
        with make_app(folder / "app") as app:
            store = app.stores.resolve("default")
            app.sources.add(store, str(folder / "documents"))
            app.index([store])
            yield app

    @pytest.fixture
    def tool(self, app: LocalDB) -> Tool:
        """The tool under test."""
        return self.build(app)

    @pytest.fixture
    def reader(self, tool: Tool) -> Tool:
        """The tool under test, for what is owed by tools that read and by no others.

        Skips for a tool whose description says that it writes or destroys: to change what
        the next call finds is what that one is for.
        """
        if self.spec().effects != "read":
            pytest.skip(f"ToolSpec.effects is {self.spec().effects}: to change is what it is for")
        return tool

    def answer(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:  # Any: JSON values
        """Call the tool as a server does."""
        return tool.run(self.model().model_validate(dict(arguments)))

    def test_the_description_tells_an_agent_what_it_needs(self) -> None:
        spec = self.spec()

        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", spec.name), "no client takes such a name"
        assert spec.title
        assert len(spec.description) > len(spec.title), "say when to use it and what comes back"

    def test_the_arguments_have_a_schema_with_a_description_for_each(self) -> None:
        schema = self.model().model_json_schema()

        silent = [k for k, v in schema.get("properties", {}).items() if not v.get("description")]
        assert schema["type"] == "object"
        assert not silent, f"arguments without a description: {', '.join(silent)}"
        json.dumps(schema)

    def test_unknown_arguments_are_refused(self, app: LocalDB) -> None:
        """Or, where ``closed`` is False, change nothing."""
        good = dict(self.calls(app)[0])
        more = {**good, "no_such_argument": 1}

        if self.closed:
            with pytest.raises(ValidationError):
                self.model().model_validate(more)
        else:
            assert self.model().model_validate(more) == self.model().model_validate(good)

    def test_every_call_is_answered_with_text(self, app: LocalDB, tool: Tool) -> None:
        for arguments in self.calls(app):
            result = self.answer(tool, arguments)

            assert isinstance(result, ToolResult)
            assert result.text.strip(), "an agent that gets no text learns nothing"
            assert len(result.text) <= self.most_characters

    def test_the_data_of_every_call_fits_the_result_model(self, app: LocalDB, tool: Tool) -> None:
        """On every surface but core data goes with the text, and agents rely on its schema."""
        result_model = self.spec().result
        if result_model is None:
            assert self.spec().surface == CORE_SURFACE, "name a model of the data: ToolSpec.result"
            return
        model: type[BaseModel] = attribute_of(result_model)
        for arguments in self.calls(app):
            data = self.answer(tool, arguments).data

            fitting = (
                data if isinstance(data, model) else model.model_validate(data, extra="forbid")
            )
            json.dumps(fitting.model_dump(mode="json"), allow_nan=False)

    def test_what_is_refused_has_a_code_and_a_message(self, app: LocalDB, tool: Tool) -> None:
        for arguments in self.refused(app):
            with pytest.raises((LocaldbError, ToolFailure)) as caught:
                self.answer(tool, arguments)

            assert re.fullmatch(r"[a-z][a-z_]*", str(getattr(caught.value, "code", "")))
            assert str(caught.value)

    def test_a_tool_that_reads_changes_nothing(self, app: LocalDB, reader: Tool) -> None:
        before = digest(app.paths.database)
        for arguments in self.calls(app):
            first = self.answer(reader, arguments)

            assert self.answer(reader, arguments) == first
        assert digest(app.paths.database) == before

    def test_two_tools_answer_alike(self, app: LocalDB, reader: Tool) -> None:
        """A tool keeps nothing between calls that changes what it says."""
        for arguments in self.calls(app):
            assert self.answer(self.build(app), arguments) == self.answer(reader, arguments)

    def test_nothing_is_printed(
        self, app: LocalDB, tool: Tool, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Standard output is the protocol."""
        for arguments in self.calls(app):
            self.answer(tool, arguments)

        assert capfd.readouterr().out == ""


def digest(database: Path) -> str:
    """A hash of every row of a catalog."""
    found = hashlib.blake2b()
    with closing(sqlite3.connect(database)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for (name,) in tables.fetchall():
            rows = sorted(map(repr, db.execute(f'SELECT * FROM "{name}"')))
            found.update("\n".join([name, *rows]).encode("utf-8", "surrogatepass"))
    return found.hexdigest()

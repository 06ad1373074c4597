"""The store scope of each command."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from click import UsageError

from localdb_core.cli import scope, sourceargs
from localdb_core.cli.state import State
from localdb_core.domain.errors import InvalidRequest, StoreNotFound
from localdb_core.domain.ids import SourceId, StoreId
from localdb_core.domain.store import Source, Store

WORK, HOME = Store(id="2", name="work"), Store(id="1", name="home")


class Stores:
    """A few stores, found by name."""

    def __init__(self, *stores):
        self.stores = stores

    def list(self):
        return list(self.stores)

    def resolve(self, name):
        for store in self.stores:
            if name in (store.name, store.id):
                return store
        raise StoreNotFound(name)


def scoped(command, *stores, asked=()):
    state = State(stores=asked)
    state.app = lambda: SimpleNamespace(stores=Stores(*stores))
    return [store.name for store in scope.resolve(state, command)]


@pytest.mark.parametrize("command", ["search", "index", "engine list", "document get"])
def test_without_a_name_all_stores_are_meant_by_name(command):
    assert scoped(command, WORK, HOME) == ["home", "work"]


@pytest.mark.parametrize("command", sorted(scope.SCOPES))
def test_named_stores_keep_their_order_and_stand_once(command):
    assert scoped(command, HOME, WORK, asked=("work", "1", "home")) == ["work", "home"]


@pytest.mark.req("L-CLI-02")
def test_no_store_at_all_is_an_error_only_where_there_is_work_to_do():
    assert scoped("search") == scoped("mcp") == scoped("document get") == []

    with pytest.raises(InvalidRequest, match="localdb store add"):
        scoped("index")


def test_adding_goes_to_the_default_store_even_if_there_is_one_other():
    default = Store(id="3", name="default")

    assert scoped("add", WORK, default) == ["default"]
    with pytest.raises(InvalidRequest, match="no store named 'default'; pass --store <name>"):
        scoped("source add", WORK)


@pytest.mark.req("L-CLI-01")
def test_every_name_is_checked_before_any_is_looked_up():
    with pytest.raises(InvalidRequest, match="must not contain"):
        scope.check("search", ["unknown", "a/b"])
    with pytest.raises(StoreNotFound):
        scoped("search", WORK, asked=("work", "unknown"))


@pytest.mark.parametrize("command", ["init", "store add", "store remove", "plugin list"])
def test_commands_about_no_store_refuse_one(command):
    with pytest.raises(UsageError, match=f"'localdb {command}' does not take --store"):
        scope.check(command, ["work"])
    scope.check(command, [])


@pytest.mark.req("L-CLI-03")
def test_the_store_column_depends_on_the_scope_alone():
    alone, several = scope.column([WORK]), scope.column([WORK, Store(id="4", name="a")])

    assert alone(WORK) == ""
    assert several(WORK) == "work  "
    assert several(Store(id="4", name="a")) == "a     "


@pytest.mark.parametrize(
    ("text", "is_id"),
    [
        ("01JQ0W9Z8X7Y6V5T4S3R2Q1P0N", True),
        ("01jq0w9z8x7y6v5t4s3r2q1p0n", False),
        ("123e4567-e89b-12d3-a456-426614174000", True),
        ("notes", False),
        ("01JQ0W9Z8X7Y6V5T4S3R2Q1P0/", False),
    ],
)
def test_what_looks_like_an_id(text, is_id):
    assert scope.looks_like_id(text) is is_id


@pytest.mark.req("L-ING-14")
def test_a_source_is_shown_as_it_was_typed_with_the_folder_it_is() -> None:
    source = Source(SourceId("S"), StoreId("T"), "path", root="/home/me/notes")

    assert sourceargs.line(source) == "S [path] /home/me/notes"
    typed = replace(source, settings={"typed": "notes"}, include=("a.md",))
    assert sourceargs.line(typed) == "S [path] notes (in /home/me/notes) (only a.md)"

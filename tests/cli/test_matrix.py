"""Every command, walked: its help, its documented flags, and what ``--store`` means to it."""

import click
import pytest

from localdb_core.cli import scope
from localdb_core.cli.main import root

NO_PLUGINS = "--no-plugins"


def commands():
    """``words → command`` for each command that does something."""

    def below(group, words):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from below(command, (*words, name))
            else:
                yield " ".join((*words, name)), command

    return dict(below(root(), ()))


COMMANDS = commands()


def arguments(command):
    """Something for each argument and option that a command cannot do without."""
    for parameter in command.params:
        if parameter.required:
            choices = getattr(parameter.type, "choices", None)
            if isinstance(parameter, click.Option):
                yield parameter.opts[0]
            yield choices[0] if choices else "x"


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_the_help_of_every_command_has_an_example_that_can_be_parsed(here, words):
    ran = here(*words.split(), "--help")

    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: localdb {words} [OPTIONS]")
    examples = COMMANDS[words].examples
    assert examples
    for example in examples:
        assert f"\n  {example}\n" in ran.out
        typed = example.partition(" > ")[0].split()
        assert typed[: len(words.split()) + 1] == ["localdb", *words.split()]
        rest = typed[len(words.split()) + 1 :]
        with COMMANDS[words].make_context(words, rest, obj=here.state()):
            pass  # raises UsageError for an option that does not exist


GLOBAL = {
    "--config", "--json", "-s", "--store", "-y", "--yes", "-h", "--help", "-V", "--version",
    "--verbose", "--no-plugins", "-P", "--strict-plugins",
}  # fmt: skip
DOCUMENTED = {
    "init": {"--download-model"},
    "source add": {"--refresh", "--kind", "--max-entries", "--no-fetch-full-content"},
    "add": {"--refresh", "--kind", "--max-entries", "--no-fetch-full-content"},
    "document list": {"--source"},
    "document get": {"--text"},
    "index": {"--source", "--strict", "--delete", "--plan"},
    "search": {"--limit", "--content-length", "--mode", "--ranker", "--explain"},
    "mcp": {"--allow-write", "--surface"},
    "db downgrade": {"--to"},
    "plugin list": {"--no-load", "--kind"},
}


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_documented_flag_exists(words):
    command = COMMANDS[words]
    with click.Context(command) as context:
        there = {name for option in command.get_params(context) for name in option.opts}

    assert GLOBAL | DOCUMENTED.get(words, set()) <= there


@pytest.mark.req("L-INV-08")
@pytest.mark.parametrize("words", sorted(set(COMMANDS) - set(scope.SCOPES)))
def test_a_command_about_no_store_refuses_one_before_it_does_anything(here, words):
    for where in (["-s", "work", *words.split()], [*words.split(), "-s", "work"]):
        ran = here(*where, *arguments(COMMANDS[words]), "--yes", NO_PLUGINS)

        assert (ran.status, ran.out) == (2, "")
        assert f"'localdb {words}' does not take --store" in ran.err
        assert list(here.home.iterdir()) == []


@pytest.mark.req("L-INV-08", "L-CLI-01")
@pytest.mark.parametrize("words", sorted(set(scope.SCOPES) - {"mcp"}))
def test_a_store_that_is_not_there_is_never_overlooked(here, words):
    command = ["-s", "none", NO_PLUGINS, "--yes", *words.split(), *arguments(COMMANDS[words])]

    unknown = here(*command)
    malformed = here("-s", "a/b", *command)

    assert (unknown.status, unknown.out) == (3, "")
    assert unknown.err == "error: store not found: none\n"
    assert malformed.status == 2
    assert "must not contain" in malformed.err


@pytest.fixture
def two(here):
    """Two stores, a and b, with a document each that the other does not hold."""
    for name in ("a", "b"):
        folder = here.home / f"in-{name}"
        folder.mkdir()
        (folder / f"{name}.md").write_text(f"Herons of {name}.\n")
        here("store", "add", name, NO_PLUGINS)
        assert here("add", folder, "-s", name, NO_PLUGINS).status == 0
    return here


@pytest.mark.req("L-INV-08")
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["search", "herons"], lambda said: [row["store"]["name"] for row in said["citations"]]),
        (["status"], lambda said: [row["name"] for row in said["stores"]]),
        (["store", "list"], lambda said: [row["name"] for row in said["stores"]]),
        (["source", "list"], lambda said: [row["store"]["name"] for row in said["sources"]]),
        (["document", "list"], lambda said: [row["store"]["name"] for row in said["documents"]]),
        (["engine", "list"], lambda said: [row["store"]["name"] for row in said["indexes"]]),
        (
            ["engine", "rebuild", "sparse"],
            lambda said: [row["store"]["name"] for row in said["results"]],
        ),
        (["index", "--plan"], lambda said: [row["store"] for row in said["plan"]]),
    ],
)
def test_a_store_that_is_there_is_a_filter(two, words, rows):
    given = [NO_PLUGINS, "--json"]
    everything = rows(two(*given, *words).json)
    one = rows(two(*given, "-s", "b", *words).json)
    both = rows(two(*given, "-s", "b", "-s", "a", "-s", "b", *words).json)

    assert {"a", "b"} <= set(everything)
    assert set(one) == {"b"}
    assert list(dict.fromkeys(both)) in (["b", "a"], ["a", "b"])
    assert len(both) == len([row for row in everything if row in ("a", "b")])


@pytest.mark.req("L-INV-08", "L-CLI-20", "L-CLI-44", "L-CLI-18")
def test_an_id_in_another_store_is_not_found(two):
    document = two("document", "list", "-s", "a", "--json", NO_PLUGINS).json["documents"][0]
    place = two.home / "in-a"

    for words, code in (
        (["document", "get", document["id"]], "resource_not_found"),
        (["index", "--source", document["source_id"]], "source_not_found"),
        (["source", "remove", document["source_id"], "--yes"], "source_not_found"),
        (["source", "remove", place, "--yes"], "source_not_found"),
    ):
        ran = two(*words, "-s", "b", "--json", NO_PLUGINS)
        assert (ran.status, ran.error["error"], ran.out) == (3, code, "")
    assert len(two("document", "list", "-s", "a", "--json", NO_PLUGINS).json["documents"]) == 1


@pytest.mark.req("L-INV-08", "L-CLI-15")
def test_adding_needs_a_store_or_the_default_one(two):
    two("store", "remove", "default", "--yes", NO_PLUGINS)

    ran = two("add", two.home / "in-a", NO_PLUGINS)

    assert ran.status == 2
    assert "no store named 'default'; pass --store <name>" in ran.err


@pytest.mark.req("L-BYD-19")
@pytest.mark.parametrize(
    "words",
    [
        "init", "status", "store add c", "store list", "store remove a --yes", "source list",
        "document list", "index", "index --plan", "search herons", "engine list", "doctor",
        "engine rebuild sparse", "plugin list", "plugin info core", "db status",
        "source add in-a in-b -s c -s default",
    ],
)  # fmt: skip
def test_in_json_a_command_prints_one_document_and_nothing_else(two, words):
    two("store", "add", "c", NO_PLUGINS) if "-s c" in words else None

    ran = two(NO_PLUGINS, "--json", *words.split())

    assert isinstance(ran.json, dict)
    assert ran.status == 0
    assert all(line.startswith("{") for line in ran.err.splitlines())

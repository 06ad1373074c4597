"""The config as a command meets it: scaffolding, refusals, the hidden schema command."""

import click
import pytest

from localdb_core.cli.main import main, root
from localdb_core.config.schema import schema_text

NO_PLUGINS = "--no-plugins"


def every_command():
    """The words of each command, with a value for whatever it cannot do without."""

    def below(group, words):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from below(command, [*words, name])
            else:
                yield [*words, name, *required(command)]

    return list(below(root(), []))


def required(command):
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.required:
            choices = getattr(parameter.type, "choices", None)
            yield choices[0] if choices else "x"


@pytest.mark.req("L-CFG-23")
@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_command_refuses_a_config_in_no_folder(tmp_path, capsys, words):
    missing = tmp_path / "none" / "config.yaml"

    status = main(["--config", str(missing), *words])

    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert f"invalid config: the folder of {missing} does not exist; make it first" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.req("L-CLI-32")
def test_a_hidden_command_prints_the_schema_and_makes_nothing(localdb):
    ran = localdb("internal", "print-schema")
    listed = localdb("--help")

    assert (ran.status, ran.out, ran.err) == (0, schema_text(), "")
    assert "internal" not in listed.out
    assert not list(localdb.home.iterdir())

"""A plugin's name that nobody has is said, with the place and what was probably meant."""

from __future__ import annotations

import logging

import pytest

from localdb_core.app import LocalDB
from localdb_core.config.load import parse_config
from localdb_core.config.plugins import selection_of
from localdb_core.domain.errors import InvalidConfig, InvalidRequest
from localdb_core.host.discovery import Candidate
from localdb_core.host.host import Host
from localdb_core.host.mentions import complaint
from localdb_core.host.selection import PluginSelection

INSTALLED = (
    Candidate("pdf", "localdb-pdf", "1.0", "m", "/somewhere"),
    Candidate("acme-notes", "acme-localdb-notes", "1.0", "m", "/somewhere"),
)


def complaints(text="", environ=None, switches=()):
    plugins = parse_config(f"version: 1\nplugins: {{{text}}}").plugins
    selection = selection_of(plugins, environ or {}, switches=switches)
    said = (complaint(mention, INSTALLED, ("memory",)) for mention in selection.mentions)
    return [line for line in said if line]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "disable: [pdf, localdb-pdf, LocalDB_PDF, acme-notes, memory]",
        "disable: [tantivy, localdb-faiss]",  # not installed, so left out anyhow
        "only: [core, pdf, localdb-core, acme_localdb_notes]",
        "pin: {pdf: localdb-pdf, Acme_Notes: acme-localdb-notes, tantivy: localdb-pdf}",
        "config: {pdf: {}, acme-notes: {x: 1}, memory: {}, core: {}}",
    ],
)
def test_names_that_are_installed_or_could_be_are_fine(text):
    assert complaints(text) == []


@pytest.mark.req("L-CFG-11")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "disable: [pdf, pfd]",
            "plugins.disable[1]: no plugin is named 'pfd'; did you mean pdf?",
        ),
        ("only: [zzz]", "plugins.only[0]: no plugin is named 'zzz'; see: localdb plugin list"),
        (
            "only: [tantivy]",
            "plugins.only[0]: tantivy is not installed; get it: pip install localdb-tantivy",
        ),
        (
            "pin: {acme-note: acme-localdb-notes}",
            "plugins.pin.acme-note: no plugin is named 'acme-note';"
            " did you mean plugins.pin.acme-notes?",
        ),
        (
            "pin: {pdf: acme-notes}",
            "plugins.pin.pdf: no distribution is named 'acme-notes';"
            " did you mean acme-localdb-notes?",
        ),
        (
            "config: {acme-nots: {}}",
            "plugins.config.acme-nots: no plugin is named 'acme-nots';"
            " did you mean plugins.config.acme-notes?",
        ),
        (
            "config: {Acme_Notes: {}}",
            "plugins.config.Acme_Notes: no plugin is named 'Acme_Notes';"
            " did you mean plugins.config.acme-notes?",
        ),
        (
            "config: {localdb-pdf: {}}",
            "plugins.config.localdb-pdf: no plugin is named 'localdb-pdf';"
            " did you mean plugins.config.pdf?",
        ),
        (
            "config: {whoosh: {}}",
            "plugins.config.whoosh: whoosh is not installed; get it: pip install localdb-whoosh",
        ),
        (
            "config: {other: {}}",
            "plugins.config.other: no plugin is named 'other'; see: localdb plugin list",
        ),
    ],
)
def test_a_name_that_nobody_has_is_told_with_its_key(text, said):
    assert complaints(text) == [said]


def test_the_variable_replaces_the_list_of_the_config():
    said = complaints("only: [zzz]", environ={"LOCALDB_PLUGINS": "pdf, pfd"})

    assert said == ["LOCALDB_PLUGINS: no plugin is named 'pfd'; did you mean pdf?"]


def test_a_config_with_an_unknown_name_works_and_warns_once(site, caplog):
    site.healthy("aaa")
    with caplog.at_level(logging.WARNING, "localdb_core"):
        host = site.load(only=("aaa",), disable=["aab"], sections=["aaaa"])

    assert [owned.full_id for owned in host.registry.parsers] == ["aaa/aaa"]
    assert [record.getMessage() for record in caplog.records] == list(host.notices)
    assert [line.partition(";")[0] for line in host.notices] == [
        "plugins.disable[0]: no plugin is named 'aab'",
        "plugins.config.aaaa: no plugin is named 'aaaa'",
    ]


def test_a_strict_run_does_not_bear_an_unknown_name(site):
    site.healthy("aaa")
    host = site.load(only=("aaa",), disable=["zzzz"], strict=True)

    with pytest.raises(InvalidConfig, match=r"plugins\.disable\[0\]: no plugin is named 'zzzz'"):
        host.enforce()


@pytest.mark.parametrize("look", [Host.load, Host.scan])
def test_leaving_out_a_plugin_that_nobody_has_is_a_usage_error(site, look):
    site.healthy("aaa")
    site.activate()
    selection = PluginSelection.from_inputs(switches=["no:aaaa"], only=["aaa"])

    with pytest.raises(InvalidRequest, match="-P no:aaaa: no plugin .*; did you mean aaa?"):
        look(selection, builtins=False)


def test_a_program_that_opens_localdb_gets_the_plugins_of_its_config(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\npaths: {data: d, models: m, logs: l}\nplugins: {only: [core]}\n")

    with LocalDB.open(config) as app:
        assert app.selection.only == {"core"}
        assert {status.name for status in app.host.statuses if status.state == "active"} == {"core"}

"""``examples/stdio_server``: a script that drives ``localdb mcp`` as a host would."""

import os
import sys

from tests.examples.conftest import EXAMPLES, load

ask = load(EXAMPLES / "stdio_server" / "ask.py", "localdb_example_ask")


def test_it_lists_the_tools_searches_opens_and_reads_around(config, monkeypatch, capsys):
    monkeypatch.setenv("LOCALDB_PLUGINS", "none")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))

    ask.main(["renew the lease by letter", "--config", str(config)])

    tools, first, *rest = capsys.readouterr().out.splitlines()
    assert tools == "tools: search, get_document, get_chunks, list_stores, list_documents"
    assert first.endswith("/lease.md")
    assert "best: Lease" in rest
    assert any(line.startswith("> ") and "renew the lease once" in line for line in rest)

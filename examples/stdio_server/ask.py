"""Ask localdb a question over the Model Context Protocol.

python ask.py "When does the lease end?" [--store NAME] [--config FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

SEPARATOR = "\n\n---\n"
"""Between the JSON of a search and the same hits as a list to read."""

LOCALDB = [sys.executable, "-m", "localdb_core.cli.main"]
"""The command ``localdb``, of the environment this script runs in."""


class LocaldbTools:
    """The five tools of a connected server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> str:  # Any: JSON values
        """A tool's text. Raises RuntimeError with what the server says is wrong."""
        result = await self._client.call_tool(tool, arguments)
        text: str = result.content[0].text  # type: ignore[union-attr]  # always one text
        if result.is_error:
            raise RuntimeError(text)
        return text

    async def search(self, question: str, *, limit: int = 3) -> list[dict[str, Any]]:
        """Citations, best first."""
        text = await self.call("search", query=question, limit=limit)
        citations: list[dict[str, Any]] = json.loads(text.split(SEPARATOR)[0])["citations"]
        return citations

    async def document(self, hit: dict[str, Any]) -> dict[str, Any]:
        """The whole document of a hit."""
        text = await self.call("get_document", id=hit["resource_id"], store=hit["store"]["id"])
        document: dict[str, Any] = json.loads(text)
        return document

    async def around(self, hit: dict[str, Any], *, limit: int = 3) -> list[dict[str, Any]]:
        """The passages around a hit."""
        text = await self.call(
            "get_chunks",
            resource_id=hit["resource_id"],
            store=hit["store"]["id"],
            anchor_chunk_id=hit["chunk_id"],
            limit=limit,
        )
        chunks: list[dict[str, Any]] = json.loads(text)["chunks"]
        return chunks


async def converse(question: str, command: Sequence[str]) -> list[str]:
    """Start the server, ask, and tell what was found, line by line."""
    # Without this a server gets little more than HOME and PATH.
    environment = dict(os.environ)
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=environment)
    async with Client(server) as client:
        tools = LocaldbTools(client)
        offered = (await client.list_tools()).tools
        lines = [f"tools: {', '.join(tool.name for tool in offered)}"]
        hits = await tools.search(question)
        if not hits:
            return [*lines, "nothing was found"]
        best = hits[0]
        document = await tools.document(best)
        chunks = await tools.around(best)
        lines += [f"{number}. {hit['uri']}" for number, hit in enumerate(hits, start=1)]
        lines.append(f"best: {document['title'] or document['uri']}")
        lines.append(f"  {document['chunk_count']} passages, {len(document['text'])} characters")
        lines += [
            f"{'>' if chunk['chunk_id'] == best['chunk_id'] else ' '} {_line(chunk['text'])}"
            for chunk in chunks
        ]
        return lines


def _line(text: str) -> str:
    return " ".join(text.split())[:100]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, ask, print."""
    parser = argparse.ArgumentParser(description="ask localdb over MCP")
    parser.add_argument("question")
    parser.add_argument("--store", help="search this store only")
    parser.add_argument("--config", help="another config file than the usual one")
    given = parser.parse_args(arguments)
    options = [("--store", given.store), ("--config", given.config)]
    chosen = [word for option in options if option[1] for word in option]
    print("\n".join(anyio.run(converse, given.question, [*LOCALDB, "mcp", *chosen])))


if __name__ == "__main__":
    main()

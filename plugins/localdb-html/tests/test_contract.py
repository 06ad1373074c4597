"""The HTML parser keeps the promises of every parser."""

from __future__ import annotations

from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.plugin import PluginContract

PAGE = b"""<!DOCTYPE html>
<html lang="en"><head><title>Lease of the mill</title></head>
<body><nav>Home</nav><main><h1>The mill</h1><p>Rent is due in <b>May</b>.</p>
<pre><code class="language-python">print(1)</code></pre>
<table><tr><th>Year</th><th>Rent</th></tr><tr><td>1901</td><td>12</td></tr></table>
</main></body></html>
"""
LATIN = (
    '<html><head><meta charset="iso-8859-1"><title>Stra\u00dfe</title></head>'
    "<body><p>Gr\u00fc\u00dfe aus K\u00f6ln</p></body></html>"
).encode("latin-1")


class TestHtml(ParserContract):
    component = "html/html"
    samples = (
        Sample(
            "mill.html",
            contains=["# The mill", "Rent is due in **May**.", "```python", "| 1901 | 12 |"],
            title="Lease of the mill",
            content=PAGE,
        ),
        Sample("latin.htm", contains=["Grüße aus Köln"], title="Straße", content=LATIN),
    )
    foreign = (b"%PDF-1.7 not mine", b"PK\x03\x04\x14\x00", bytes(range(256)) * 8)


class TestPlugin(PluginContract):
    plugin = "html"

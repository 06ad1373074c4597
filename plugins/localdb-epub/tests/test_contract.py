from epub_files import epub, xhtml

from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.plugin import PluginContract


def mill() -> bytes:
    return epub(
        {
            "one.xhtml": xhtml("<h1>The Wheel</h1><p>It turns with the water.</p>"),
            "two.xhtml": xhtml("<h1>The Stone</h1><ul><li>grinds</li><li>rests</li></ul>"),
        }
    )


class TestEpub(ParserContract):
    component = "epub/epub"
    samples = (
        Sample(
            "mill.epub",
            contains=["# The Wheel It turns with the water. # The Stone - grinds - rests"],
            title="The Mill",
            content=mill,
        ),
    )
    foreign = (b"", b"%PDF-1.7 not mine", b"<html><p>404</p></html>", b"\x89PNG\r\n")


class TestPlugin(PluginContract):
    plugin = "epub"

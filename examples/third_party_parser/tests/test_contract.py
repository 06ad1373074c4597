"""What localdb asks of every plugin, and of every parser."""

from __future__ import annotations

from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.plugin import PluginContract

ONE = b"@misc{lease,\n  author = {Ren\\'ee Ivy},\n  title = {The {Lease}},\n  year = 2001}\n"


class TestPlugin(PluginContract):
    """The light module, the hooks and the settings."""

    plugin = "bibtex"


class TestParser(ParserContract):
    """The parser, on samples: files it must read, and bytes it must decline."""

    component = "bibtex/bibtex"
    samples = (
        Sample(
            "library.bib",
            contains=[
                "Grey Herons of the Łódź Canals: A “Census”",
                "Jørgen Müller, José García Ibáñez et al. (2019).",
                "Journal of River Birds, volume 12, number 3, pages 101–117.",
                "Herons nest in colonies beside the deepest locks. Costs rose by 5 % & the census",
                "doi: 10.1234/jrb_2019.17",
                "url: https://example.org/~heron/a_b",
                "Piet van den Berg Jr. and Barnes and Noble, Inc. (1987).",
                "Edited by Šárka Nováková. Harbour Press, Gdańsk.",
                "On $x_{1}^2$ weirs",
                "Ludwig van Beethoven (1990). Edited by Ada Weir. Proceedings of the Weir Days,",
            ],
        ),
        Sample(
            "one.bib",
            contains=["Renée Ivy (2001).", "cite as: lease"],
            title="The Lease",
            content=ONE,
        ),
    )
    foreign = (b"", b"write to me@example.org {today}", b"\x00\x01@misc{a}", b"\xff\xfe\xfd")

"""Names of what plugins offer to agents, checked when it is collected."""

import pytest

from localdb_core.host.checks import sift
from localdb_core.plugin import ResourceSpec, SurfaceFlag, SurfaceSpec, ToolSpec


def tool(**changes):
    fields = {"name": "look", "surface": "shelf", "target": "m:T", "arguments": "m:A"}
    return ToolSpec(**({"title": "Look", "description": "Look at a shelf."} | fields | changes))


def resource(**changes):
    fields = {"name": "day", "surface": "diary", "target": "m:R", "uri_template": "diary://{day}"}
    return ResourceSpec(**(fields | changes))


def surface(**changes):
    return SurfaceSpec(**({"name": "shelf"} | changes))


@pytest.mark.parametrize(
    "spec",
    [
        tool(),
        tool(name="x" * 64, result="m:Found", flag="allow-fire"),
        resource(),
        surface(flags=(SurfaceFlag("allow-fire", "burn"),), protocols=("2026-07-28",)),
        surface(result_cap=1, argument_errors="protocol"),
    ],
)
def test_a_good_offer_is_taken(spec):
    assert sift([spec], type(spec)) == ([spec], [])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (tool(name="look here"), "'look here' is not 1 to 64 of"),
        (tool(name="x" * 65), "is not 1 to 64 of"),
        (tool(surface=""), "'' is not 1 to 64 of"),
        (tool(surface="all"), "'all' stands for every surface"),
        (tool(result="Found"), "'Found' is not written module:attribute"),
        (tool(effects="maybe"), "effects is 'maybe'"),
        (resource(surface="core"), "the surface 'core' is the contract's"),
        (resource(uri_template=5), "uri_template is 5"),
        (surface(name="core"), "the surface 'core' is the contract's"),
        (surface(name="all"), "'all' stands for every surface"),
        (surface(flags=(SurfaceFlag("Fire"),)), "'Fire' cannot be a flag"),
        (surface(flags=(SurfaceFlag("json"),)), "'json' cannot be a flag"),
        (surface(flags=(SurfaceFlag("a"), SurfaceFlag("a"))), "two flags have one name"),
        (surface(flags=("allow-fire",)), "flags is ('allow-fire',)"),
        (surface(flags=(SurfaceFlag(5),)), "5 cannot be a flag"),
        (surface(result_cap=0), "at least one byte"),
        (surface(argument_errors="loud"), "argument_errors is 'loud'"),
    ],
)
def test_a_bad_offer_is_refused_with_the_reason(spec, said):
    good, (fault,) = sift([spec], type(spec))

    assert good == []
    assert said in fault

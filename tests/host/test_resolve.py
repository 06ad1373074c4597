"""Names in the config, parsers for a file, and who wins when several want the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain.errors import InvalidConfig
from localdb_core.host.conflicts import Choices, find_conflicts, shadowed_parsers
from localdb_core.host.owned import Owned
from localdb_core.host.registry import Registry
from localdb_core.host.resolve import claims, parser_chain, resolve_name
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import (
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    Probe,
    ResourceSpec,
    SurfaceSpec,
    ToolSpec,
)


def parser(full_id: str, distribution: str = "", **fields) -> Owned[ParserSpec]:
    plugin, _, name = full_id.partition("/")
    spec = ParserSpec(name=name, target="m:P", **fields)
    return Owned(plugin, distribution or f"acme-{plugin}", "1.0", spec)


def embedder(full_id: str, distribution: str) -> Owned[EmbedderSpec]:
    plugin, _, name = full_id.partition("/")
    return Owned(plugin, distribution, "1.0", EmbedderSpec(name=name, target="m:E"))


def tool(full_id: str, distribution: str, surface: str = "core") -> Owned[ToolSpec]:
    plugin, _, name = full_id.partition("/")
    spec = ToolSpec(
        name=name, target="m:T", surface=surface, title="", description="", arguments="m:A"
    )
    return Owned(plugin, distribution, "1.0", spec)


def surface(full_id: str, distribution: str) -> Owned[SurfaceSpec]:
    plugin, _, name = full_id.partition("/")
    return Owned(plugin, distribution, "1.0", SurfaceSpec(name=name))


def resource(full_id: str, distribution: str) -> Owned[ResourceSpec]:
    plugin, _, name = full_id.partition("/")
    spec = ResourceSpec(name=name, target="m:R", surface="diary", uri_template="diary://{day}")
    return Owned(plugin, distribution, "1.0", spec)


def failed(name: str, distribution: str, error: str) -> PluginStatus:
    return PluginStatus(name, distribution, "1.0", "failed", "import", error=error)


def tried(registry: Registry, probe: Probe, configured=(), *, auto=True) -> list[str]:
    chain = parser_chain(registry, configured, user_wrote=True, auto=auto)
    return [owned.full_id for owned in claims(chain, probe)]


def test_a_short_name_with_one_holder_and_a_full_id_resolve() -> None:
    registry = Registry(embedders=(embedder("acme/fast", "acme"),))

    assert resolve_name(registry, "embedder", "fast").full_id == "acme/fast"
    assert resolve_name(registry, "embedder", "acme/fast").full_id == "acme/fast"


def test_ours_wins_a_contested_short_name_and_the_full_id_stays_free() -> None:
    registry = Registry(
        embedders=(embedder("acme/onnx", "acme"), embedder("onnx/onnx", "localdb-onnx"))
    )

    assert resolve_name(registry, "embedder", "onnx").full_id == "onnx/onnx"
    assert resolve_name(registry, "embedder", "acme/onnx").full_id == "acme/onnx"


def test_a_name_contested_by_strangers_is_an_error_that_lists_the_full_ids() -> None:
    registry = Registry(embedders=(embedder("a/fast", "a"), embedder("b/fast", "b")))

    with pytest.raises(InvalidConfig, match="ambiguous; write one of a/fast, b/fast"):
        resolve_name(registry, "embedder", "fast")


def test_an_unknown_name_lists_the_known_ones() -> None:
    registry = Registry(embedders=(embedder("a/fast", "a"),))

    with pytest.raises(InvalidConfig, match="no embedder is named 'slow'; known: fast$"):
        resolve_name(registry, "embedder", "slow")


@pytest.mark.parametrize("name", ["chroma", "chroma/chroma"])
def test_a_name_of_ours_that_is_not_installed_comes_with_the_install_line(name) -> None:
    with pytest.raises(InvalidConfig, match="known: none; to get it: pip install localdb-chroma"):
        resolve_name(Registry(), "index", name)


def test_a_name_whose_plugin_failed_quotes_the_failure() -> None:
    registry = Registry(plugins=(failed("pdf", "localdb-pdf", "No module named 'pypdf'"),))

    with pytest.raises(InvalidConfig, match=r"plugin pdf is failed \(import: No module named"):
        resolve_name(registry, "parser", "pdf")


def test_a_component_with_another_name_than_its_failed_plugin_quotes_it_too() -> None:
    registry = Registry(plugins=(failed("openai", "localdb-openai", "boom"),))

    for name in ("voyage", "openai/voyage"):
        with pytest.raises(InvalidConfig, match="plugin openai is failed"):
            resolve_name(registry, "embedder", name)


def test_a_name_whose_plugin_was_left_out_says_so() -> None:
    status = PluginStatus(
        "pdf", "localdb-pdf", "1", "disabled", "gate", error="disabled by the user"
    )

    with pytest.raises(InvalidConfig, match=r"plugin pdf is disabled \(disabled by the user\)"):
        resolve_name(Registry(plugins=(status,)), "parser", "pdf")


def test_every_kind_resolves() -> None:
    index = Owned("c", "acme", "1", IndexSpec(name="c", target="m:I", leg="dense"))
    registry = Registry(indexes=(index,), tools=(tool("t/t", "acme"),))

    assert resolve_name(registry, "index", "c") is index
    assert resolve_name(registry, "tool", "t").full_id == "t/t"
    for kind in ("source", "chunker"):
        with pytest.raises(InvalidConfig, match=f"no {kind} is named"):
            resolve_name(registry, kind, "nothing")


def test_configured_parsers_come_first_in_their_order() -> None:
    registry = Registry(
        parsers=(
            parser("a/a", suffixes=(".x",)),
            parser("b/b", suffixes=(".x",)),
            parser("c/c", filenames=("f.x",)),
        )
    )

    assert tried(registry, Probe("f.x"), ["b", "a"]) == ["b/b", "a/a", "c/c"]
    assert tried(registry, Probe("f.x"), ["b", "b/b"], auto=False) == ["b/b"]


def test_a_configured_parser_counts_only_when_it_claims_the_file() -> None:
    registry = Registry(parsers=(parser("a/a", suffixes=(".x",)), parser("b/b")))

    assert tried(registry, Probe("f.y"), ["a", "b"]) == []


def test_automatic_parsers_are_ordered_by_specificity_then_full_id() -> None:
    registry = Registry(
        parsers=(
            parser("a/wild", media_types=("text/*",)),
            parser("b/type", media_types=("text/x-log",)),
            parser("z/suffix", suffixes=(".log",)),
            parser("c/suffix", suffixes=(".log",)),
            parser("d/magic", magic=(b"LOG1",)),
            parser("e/name", filenames=("boot.log",)),
            parser("f/any", media_types=("*/*",)),
            parser("g/none", suffixes=(".txt",)),
        )
    )
    probe = Probe("boot.log", b"\xef\xbb\xbf \nLOG1 started", "Text/X-Log; charset=utf-8")

    assert tried(registry, probe) == [
        *("e/name", "d/magic", "c/suffix", "z/suffix", "b/type", "a/wild", "f/any"),
    ]


def test_a_wildcard_of_one_family_needs_a_type_of_that_family() -> None:
    registry = Registry(parsers=(parser("a/wild", media_types=("text/*",)),))

    assert tried(registry, Probe("f", media_type=None)) == []
    assert tried(registry, Probe("f", media_type="image/png")) == []


@given(st.permutations(["a/a", "b/b", "c/c", "d/d"]), st.data())
def test_the_chain_does_not_depend_on_the_order_of_installation(order, data) -> None:
    configured = data.draw(st.permutations(["b", "d"]))
    registry = Registry(parsers=tuple(parser(name, suffixes=(".x",)) for name in order))

    expected = [f"{name}/{name}" for name in configured] + ["a/a", "c/c"]
    assert tried(registry, Probe("f.x"), configured) == expected


def test_a_missing_parser_is_an_error_only_when_the_user_wrote_the_list() -> None:
    registry = Registry(parsers=(parser("core/markdown", "localdb-core", suffixes=(".md",)),))

    chain = parser_chain(registry, ["epub", "markdown"], user_wrote=False, auto=True)

    assert [owned.full_id for owned in chain.parsers] == ["core/markdown"]
    assert chain.notices == (
        "default parser skipped: no parser is named 'epub'; known: markdown;"
        " to get it: pip install localdb-epub",
    )
    with pytest.raises(InvalidConfig, match="pip install localdb-epub"):
        parser_chain(registry, ["epub", "markdown"], user_wrote=True, auto=True)


@pytest.mark.req("L-ING-12")
def test_a_chain_knows_which_files_it_accepts() -> None:
    registry = Registry(
        parsers=(parser("a/a", suffixes=(".x",)), parser("b/b", filenames=("Lock",)))
    )

    accepts = parser_chain(registry, ["a"], user_wrote=True, auto=True).accepts

    assert (accepts.suffixes, accepts.filenames) == ({".x"}, {"Lock"})


def test_a_second_parser_for_a_format_changes_nothing_until_it_is_listed_first() -> None:
    ours = parser("pdf/pdf", "localdb-pdf", suffixes=(".pdf",), magic=(b"%PDF-",))
    other = parser("acme/acme-pdf", suffixes=(".pdf",), magic=(b"%PDF-",))
    registry = Registry(parsers=(other, ours))

    conflicts = find_conflicts(registry)

    assert [(c.kind, c.key, c.winner, c.losers) for c in conflicts] == [
        ("parser", ".pdf", "pdf/pdf", ("acme/acme-pdf",)),
        ("parser", "magic b'%PDF-'", "pdf/pdf", ("acme/acme-pdf",)),
    ]
    assert conflicts[0].rule == "listed first in defaults.indexing.parsers"
    assert shadowed_parsers(registry, conflicts) == {"acme/acme-pdf"}
    assert conflicts[0].remedy == "defaults.indexing.parsers: [acme/acme-pdf, pdf]"


def test_parsers_that_are_both_listed_are_no_conflict() -> None:
    ours = parser("pdf/pdf", "localdb-pdf", suffixes=(".pdf",))
    registry = Registry(parsers=(parser("acme/acme-pdf", suffixes=(".pdf",)), ours))

    assert find_conflicts(registry, (), Choices(["acme-pdf", "pdf"])) == ()
    (conflict,) = find_conflicts(registry, (), Choices(["acme-pdf"]))
    assert (conflict.winner, conflict.losers) == ("acme/acme-pdf", ("pdf/pdf",))
    assert conflict.remedy == "defaults.indexing.parsers: [pdf/pdf, acme-pdf]"
    assert find_conflicts(registry, (), Choices(["acme-pdf"], auto_parsers=False)) == ()


def test_a_parser_that_keeps_one_claim_is_not_shadowed() -> None:
    registry = Registry(
        parsers=(parser("a/a", suffixes=(".x",)), parser("b/b", suffixes=(".x", ".y")))
    )

    conflicts = find_conflicts(registry, (), Choices([]))

    assert conflicts[0].rule.startswith("first by full id")
    assert shadowed_parsers(registry, conflicts) == frozenset()


def test_embedders_of_one_name_are_a_conflict() -> None:
    registry = Registry(embedders=(embedder("a/fast", "a"), embedder("b/fast", "b")))

    (fast,) = find_conflicts(registry)

    assert (fast.key, fast.winner, fast.losers) == ("fast", None, ("a/fast", "b/fast"))
    assert fast.remedy == "defaults.indexing.embedding.provider: a/fast"


def test_a_tool_on_the_contracts_surface_is_a_conflict_whatever_its_name() -> None:
    registry = Registry(
        tools=(
            tool("core/search", "localdb-core"),
            tool("acme/search", "acme"),
            tool("acme/sixth", "acme"),
        ),
    )

    search, sixth = find_conflicts(registry)

    assert (search.key, search.winner) == ("core/search", "core/search")
    assert search.losers == ("acme/search",)
    assert search.remedy == "plugins.disable: [acme]"
    assert search.to_json()["kind"] == "tool"
    assert (sixth.key, sixth.winner, sixth.losers) == ("core/sixth", None, ("acme/sixth",))


def test_of_two_tools_or_surfaces_of_one_name_the_first_plugin_by_name_has_it() -> None:
    registry = Registry(
        tools=(tool("acme/look", "acme", "shelf"), tool("zeta/look", "zeta", "shelf")),
        surfaces=(surface("acme/shelf", "acme"), surface("zeta/shelf", "zeta")),
    )

    shelf, look = find_conflicts(registry)

    assert (shelf.kind, shelf.key, shelf.winner) == ("surface", "shelf", "acme/shelf")
    assert (look.kind, look.key, look.winner) == ("tool", "shelf/look", "acme/look")
    assert look.losers == ("zeta/look",)
    assert look.rule == "the first by the plugin's name"
    assert look.remedy == "plugins.disable: [acme]"  # which gives the name to the other


def test_a_tool_of_ours_comes_before_one_whose_plugin_sorts_first() -> None:
    registry = Registry(
        tools=(tool("acme/look", "acme", "vault"), tool("vault/look", "localdb-vault", "vault"))
    )

    (look,) = find_conflicts(registry)

    assert (look.winner, look.rule) == ("vault/look", "localdb's own comes first")


def test_names_that_meet_only_when_several_surfaces_are_served_are_a_conflict() -> None:
    registry = Registry(tools=(tool("acme/b_c", "acme", "a"), tool("zeta/c", "zeta", "a_b")))

    (met,) = find_conflicts(registry)

    assert (met.key, met.winner, met.losers) == (
        "a_b_c (several surfaces)",
        "acme/b_c",
        ("zeta/c",),
    )


def test_two_answers_for_one_uri_are_a_conflict() -> None:
    registry = Registry(resources=(resource("acme/day", "acme"), resource("zeta/day", "zeta")))

    (day,) = find_conflicts(registry)

    assert (day.kind, day.key, day.winner) == ("resource", "diary://{day}", "acme/day")

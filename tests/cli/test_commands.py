"""The commands, end to end: real files, the real catalog, its own two legs."""

import json
import signal
import subprocess

import pytest

NO_PLUGINS = "--no-plugins"


@pytest.fixture
def localdb(here):
    return here


@pytest.fixture
def notes(localdb):
    folder = localdb.home / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text("# Flat\n\n## Lease\n\nThe lease ends in *May*. Renew it.\n")
    (folder / "soup.txt").write_text("Boil the aardvark soup for an hour.\n")
    return folder


@pytest.fixture
def indexed(localdb, notes):
    ran = localdb("add", notes, NO_PLUGINS)
    assert ran.status == 0, ran.err
    return localdb


@pytest.mark.req("L-CFG-20")
def test_any_command_makes_config_folders_and_the_first_store(localdb):
    ran = localdb("store", "list", NO_PLUGINS)

    assert (ran.status, ran.out) == (0, "default [sqlite]\n")
    assert (localdb.home / ".config/localdb/config.yaml").exists()
    assert (localdb.home / ".local/share/localdb/localdb.db").exists()


@pytest.mark.req("L-CFG-22")
@pytest.mark.slow
def test_twenty_first_runs_at_once_all_work(localdb):
    runs = [
        localdb.start("store", "list", NO_PLUGINS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(20)
    ]
    ended = [(*run.communicate(timeout=300), run.returncode) for run in runs]

    assert ended == [("default [sqlite]\n", "", 0)] * 20


@pytest.mark.req("L-CLI-10")
def test_init_says_where_things_are_and_may_be_repeated(localdb):
    first = localdb("init", "--json", NO_PLUGINS)
    again = localdb("init", NO_PLUGINS)

    assert first.status == again.status == 0
    assert first.json == {
        "status": "ok",
        "config_path": str(localdb.home / ".config/localdb/config.yaml"),
        "data_dir": str(localdb.home / ".local/share/localdb"),
        "models_dir": str(localdb.home / ".cache/localdb/models"),
        "logs_dir": str(localdb.home / ".local/state/localdb/logs"),
        "default_store": "ok",
        "model_download": "skipped",
        "warnings": [],
    }
    assert "next: localdb add FOLDER" in again.out


@pytest.mark.req("L-CLI-10")
def test_init_survives_a_database_that_cannot_be_opened(localdb):
    data = localdb.home / ".local/share/localdb"
    data.mkdir(parents=True)
    (data / "localdb.db").write_bytes(b"this is no database " * 100)

    ran = localdb("init", "--json", NO_PLUGINS)

    assert ran.status == 0
    assert json.loads(ran.err)["level"] == "warning"
    assert ran.json["default_store"] == "skipped"
    assert ran.json["warnings"] == [json.loads(ran.err)["message"]]


@pytest.mark.req("L-CLI-12")
@pytest.mark.req("L-CLI-13")
@pytest.mark.req("L-CLI-14")
def test_stores_are_added_listed_and_removed(localdb):
    assert localdb("store", "add", "work", NO_PLUGINS).out == "Added store: work\n"
    assert localdb("store", "add", "work", NO_PLUGINS).status == 2
    assert localdb("store", "list", NO_PLUGINS).out == "default [sqlite]\nwork [sqlite]\n"

    unasked = localdb("store", "remove", "work", NO_PLUGINS)
    removed = localdb("store", "remove", "work", "--yes", "--json", NO_PLUGINS)
    gone = localdb("store", "remove", "work", "--yes", NO_PLUGINS)

    assert unasked.status == 2
    assert "--yes" in unasked.err
    assert removed.json == {"status": "ok", "name": "work"}
    assert (gone.status, gone.err) == (3, "error: store not found: work\n")


@pytest.mark.req("L-CLI-13")
def test_without_stores_lists_say_so_and_work_on_them_is_refused(localdb):
    localdb("store", "remove", "default", "--yes", NO_PLUGINS)

    assert localdb("store", "list", NO_PLUGINS).out == "No stores.\n"
    assert "  (none)\n" in localdb("status", NO_PLUGINS).out
    assert localdb("search", NO_PLUGINS, "x").status == 0
    index = localdb("index", NO_PLUGINS)
    add = localdb("add", ".", NO_PLUGINS)

    assert index.status == 2
    assert "localdb store add" in index.err
    assert add.status == 2
    assert "no store named 'default'; pass --store <name>" in add.err


@pytest.mark.req("L-CLI-15")
@pytest.mark.req("L-CLI-16")
@pytest.mark.req("L-ING-61")
def test_adding_a_folder_indexes_it(localdb, notes):
    ran = localdb("add", notes, NO_PLUGINS)

    assert ran.status == 0, ran.err
    assert ran.out.startswith("Added source ")
    assert ran.out.endswith(" to store 'default'\n")
    assert "Auto-indexing source " in ran.err
    assert "discovered 2 files" in ran.err


@pytest.mark.req("L-CLI-15")
@pytest.mark.req("L-ING-10")
def test_adding_what_is_not_there_fails(localdb):
    ran = localdb("add", "none", "--json", NO_PLUGINS)

    assert (ran.status, ran.out) == (2, "")
    assert ran.error["error"] == "invalid_request"


@pytest.mark.req("L-CLI-45")
def test_a_batch_that_fails_midway_tells_what_it_did_in_one_document(localdb, notes):
    ran = localdb("source", "add", notes, "none", "--json", NO_PLUGINS)

    assert ran.status == 2
    assert ran.json["status"] == "error"
    assert ran.json["error"]["code"] == "invalid_request"
    assert [row["kind"] for row in ran.json["results"]] == ["path"]


@pytest.mark.req("L-CLI-17")
@pytest.mark.req("L-CLI-18")
def test_sources_are_listed_and_removed_by_place_or_id(indexed, notes):
    (row,) = indexed("source", "list", "--json", NO_PLUGINS).json["sources"]
    listed = indexed("source", "list", NO_PLUGINS).out

    assert row["root"] == str(notes)
    assert set(row) == {"id", "store", "store_id", "kind", "root", "url", "preset"}
    assert listed == f"{row['id']} [path] {notes}\n"

    by_place = indexed("source", "remove", notes, "-s", "default", "--yes", NO_PLUGINS)
    by_id = indexed("source", "remove", row["id"], "--yes", "--json", NO_PLUGINS)

    assert (by_place.status, by_place.out) == (0, f"Removed source: {row['id']}\n")
    assert (by_id.status, by_id.error["error"]) == (3, "source_not_found")
    assert indexed("source", "list", NO_PLUGINS).out == "No sources on store 'default'.\n"


@pytest.mark.req("L-CLI-19")
@pytest.mark.req("L-CLI-20")
def test_documents_are_listed_and_shown(indexed, notes):
    rows = indexed("document", "list", "--json", NO_PLUGINS).json["documents"]
    lines = indexed("document", "list", NO_PLUGINS).out.splitlines()
    shown = indexed("document", "get", rows[0]["id"], "--text", NO_PLUGINS)
    data = indexed("document", "get", rows[0]["id"], "--json", NO_PLUGINS).json

    assert [row["uri"].rsplit("/", 1)[1] for row in rows] == ["lease.md", "soup.txt"]
    assert list(rows[0]) == [
        "id", "uri", "title", "store", "store_id", "source_id", "content_hash", "fetched_at"
    ]  # fmt: skip
    assert lines[0] == f"{rows[0]['id']} file:{notes}/lease.md (Flat)"
    assert shown.out.startswith(f"id: {rows[0]['id']}\nuri: file:{notes}/lease.md\ntitle: Flat\n")
    assert "The lease ends in" in shown.out
    assert set(data) == {
        "id", "uri", "title", "store_id", "source_id", "content_hash", "fetched_at",
        "metadata", "text",
    }  # fmt: skip
    assert indexed("document", "list", "--source", "0" * 26, NO_PLUGINS).out == ""
    assert indexed("document", "get", "0" * 64, NO_PLUGINS).status == 3


@pytest.mark.req("L-CLI-20")
def test_a_document_in_two_stores_must_be_told_apart(indexed, notes):
    indexed("store", "add", "work", NO_PLUGINS)
    indexed("add", notes, "-s", "work", NO_PLUGINS)
    (resource, *_) = indexed("document", "list", "-s", "work", "--json", NO_PLUGINS).json[
        "documents"
    ]

    anywhere = indexed("document", "get", resource["id"], NO_PLUGINS)
    there = indexed("document", "get", resource["id"], "-s", "work", "--json", NO_PLUGINS)

    assert anywhere.status == 2
    assert there.json["store_id"] == resource["store_id"]


@pytest.mark.req("L-CLI-21")
def test_index_counts_what_it_did(indexed, notes):
    (notes / "new.md").write_text("Something new about zebras.\n")
    (notes / "soup.txt").unlink()

    plan = indexed("index", "--plan", NO_PLUGINS)
    kept = indexed("index", NO_PLUGINS)
    swept = indexed("index", "--delete", "--json", NO_PLUGINS)

    assert f"add file:{notes}/new.md (" in plan.out
    assert f"prune file:{notes}/soup.txt (" in plan.out
    assert kept.out == (
        "Index complete: 1 indexed, 1 skipped, 1 chunks written, 0 unsupported, 0 errors, "
        "1 no longer at source (kept; use --delete to remove)\n"
    )
    assert swept.json["docs_deleted"] == 1
    assert set(swept.json) == {
        "status", "docs_indexed", "docs_skipped", "chunks_written", "unsupported", "errors",
        "docs_deleted", "docs_prunable", "job_id",
    }  # fmt: skip
    assert swept.err == ""


@pytest.mark.req("L-CLI-21")
def test_index_of_several_stores_has_a_total(indexed):
    indexed("store", "add", "work", NO_PLUGINS)

    lines = indexed("index", NO_PLUGINS).out.splitlines()
    data = indexed("index", "--json", NO_PLUGINS).json

    assert lines[0].startswith("[default] Index complete: 0 indexed, 2 skipped")
    assert lines[1] == "[work] No sources to index on store 'work'."
    assert lines[2].startswith("Total: 0 indexed, 2 skipped")
    assert [row["store"] for row in data["stores"]] == ["default", "work"]
    assert "job_id" not in data["total"]


@pytest.mark.req("L-CLI-43")
@pytest.mark.req("L-LOG-01")
def test_strict_fails_after_everything_was_done(indexed, notes):
    (notes / "bad.md").symlink_to(notes / "nowhere.md")
    (notes / "fine.md").write_text("fine\n")

    lax = indexed("index", NO_PLUGINS)
    strict = indexed("index", "--strict", "--json", NO_PLUGINS)

    assert lax.status == 0
    assert "1 indexed, 2 skipped" in lax.out
    assert "1 errors" in lax.out
    assert [line for line in lax.err.splitlines() if "bad.md" in line][1:] == []
    assert (strict.status, strict.json["status"], strict.json["errors"]) == (2, "error", 1)


@pytest.mark.req("L-CLI-44")
def test_index_of_an_unknown_source_is_not_found(indexed):
    ran = indexed("index", "--source", "0" * 26, NO_PLUGINS)

    assert (ran.status, ran.err) == (3, f"error: source not found: {'0' * 26}\n")


@pytest.mark.req("L-CLI-22")
def test_search_shows_place_headings_and_passage(indexed, notes):
    ran = indexed("search", NO_PLUGINS, "--limit", "1", "lease", "ends")
    data = indexed("search", NO_PLUGINS, "--json", "lease").json
    nothing = indexed("search", NO_PLUGINS, "--mode", "keyword", "xylophone")

    assert ran.out.startswith(f"1. file:{notes}/lease.md > Flat > Lease\n   The lease ends")
    assert ran.out.endswith("\n\n")
    assert list(data) == ["citations"]
    assert data["citations"][0]["title"] == "Flat"
    assert nothing.out == "No results for 'xylophone'.\n"


@pytest.mark.req("L-CLI-22")
def test_options_after_the_query_are_part_of_it(indexed):
    ran = indexed("search", NO_PLUGINS, "--mode", "keyword", "zebra", "--limit", "--json")

    assert ran.out == "No results for 'zebra --limit --json'.\n"


@pytest.mark.req("L-CLI-22")
def test_explain_says_who_answered_and_how(indexed):
    text = indexed("search", NO_PLUGINS, "--explain", "lease").out
    data = indexed("search", NO_PLUGINS, "--explain", "--json", "lease").json

    assert "   fused 0.0" in text
    assert "rank 1 score" in text
    assert "fts5, " in text
    assert set(data["explain"]) >= {"embedder", "hits", "legs"}


@pytest.mark.req("L-CLI-11")
def test_status_counts_and_measures(indexed):
    text = indexed("status", NO_PLUGINS).out
    data = indexed("status", "--json", NO_PLUGINS).json

    assert text.startswith(
        "daemon: not running (embedded mode)\n"
        "stores (1):\n"
        "  default [sqlite] 2 documents, 2 chunks\n"
        "\n"
        "database: "
    )
    assert data["stores"][0]["chunk_count"] == 2
    assert data["database"]["exists"] is True


@pytest.mark.req("L-CLI-33")
@pytest.mark.req("L-CLI-34")
def test_engines_are_listed_and_rebuilt(indexed):
    listed = indexed("engine", "list", NO_PLUGINS)
    data = indexed("engine", "list", "--json", NO_PLUGINS).json
    rebuilt = indexed("engine", "rebuild", "sparse", "--json", NO_PLUGINS)

    assert listed.status == 0
    assert listed.out.startswith("embedder: ")
    assert {row["leg"] for row in data["indexes"]} == {"dense", "sparse"}
    assert rebuilt.status == 0
    assert rebuilt.json["status"] == "ok"


@pytest.mark.slow
@pytest.mark.req("L-ERR-02")
def test_ctrl_c_stops_an_index_run_and_keeps_what_is_done(localdb, notes):
    for number in range(3000):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\n" + "Some words. " * 200)
    running = localdb.start(
        "add", notes, NO_PLUGINS, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for line in running.stderr:
        if "/3002 documents" in line:
            break

    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)

    assert running.returncode == 130
    assert "stopping …" in said
    assert said.endswith("interrupted\n")
    assert localdb("status", NO_PLUGINS, "--json").json["stores"][0]["document_count"] > 0


@pytest.mark.req("L-CLI-47")
def test_search_works_with_its_input_closed(indexed):
    running = indexed.start(
        "search", NO_PLUGINS, "lease", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )

    out, _ = running.communicate(timeout=60)

    assert running.returncode == 0
    assert "lease.md" in out

from io import BytesIO

import pytest
from localdb_pdf.metadata import parse_date, read_metadata, split_keywords
from pdf_files import pages, rewritten
from pypdf import PdfReader

XMP = b"""<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description rdf:about="">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">The other title</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>Ada</rdf:li><rdf:li>Bea</rdf:li></rdf:Seq></dc:creator>
<dc:publisher><rdf:Bag><rdf:li>A house</rdf:li></rdf:Bag></dc:publisher>
<dc:language><rdf:Bag><rdf:li>en-GB</rdf:li></rdf:Bag></dc:language>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">CC0</rdf:li></rdf:Alt></dc:rights>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def read(content: bytes):
    return read_metadata(PdfReader(BytesIO(content)), page_count=1)


@pytest.mark.req("L-PAR-36")
def test_the_information_dictionary_comes_first_and_xmp_fills_the_gaps():
    info = {
        "/Title": "The Mill",
        "/Subject": "Wheels",
        "/Keywords": "mill, wheel; water,mill",
        "/CreationDate": "D:20240131120000+01'00'",
    }

    metadata = read(rewritten(pages(["x"]), info=info, xmp=XMP))

    assert metadata.title == "The Mill"
    assert metadata.description == "Wheels"
    assert metadata.subject == ("mill", "wheel", "water")
    assert metadata.date == "2024-01-31"
    assert metadata.creator == ("Ada", "Bea")
    assert metadata.language == "en-GB"
    assert metadata.rights == "CC0"
    assert metadata.publisher is None
    assert metadata.format == "application/pdf"
    assert metadata.extra == {"page_count": 1}


@pytest.mark.req("L-PAR-36")
def test_a_file_that_says_nothing_gets_no_guessed_title():
    metadata = read(pages(["A line that looks like a title"]))

    assert metadata.title is None
    assert metadata.creator == ()


def test_damaged_xmp_is_as_good_as_none():
    metadata = read(rewritten(pages(["x"]), info={"/Author": "Ada"}, xmp=b"<x:xmpmeta"))

    assert metadata.creator == ("Ada",)


@pytest.mark.req("L-PAR-36")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D:2024", "2024"),
        ("D:202402", "2024-02"),
        ("D:20240229", "2024-02-29"),
        ("D:20240131120000Z", "2024-01-31"),
        ("2024-01-31T12:00:00", "2024-01-31"),
        ("D:20241301", None),
        ("D:20230229", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_are_as_precise_as_the_file_and_bad_ones_vanish(text, expected):
    assert parse_date(text) == expected


def test_keywords_are_split_and_kept_once():
    assert split_keywords(" a, b;;a ,") == ("a", "b")

"""The Office parser keeps the promises of every parser."""

from __future__ import annotations

import io
import warnings

from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.plugin import PluginContract


def letter() -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = "Letter"
    document.add_heading("Harbour", level=2)
    document.add_paragraph("The ferry leaves at noon.")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Ship", "Tons", "Ada", "900"), strict=True):
        cell.text = text
    return _saved(document)


def slides() -> bytes:
    import pptx

    deck = pptx.Presentation()
    deck.core_properties.title = "Deck"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "First slide"
    slide.placeholders[1].text = "A point"
    slide.notes_slide.notes_text_frame.text = "Say this aloud"
    return _saved(deck)


def workbook() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.properties.title = "Book"
    book.active.title = "Fleet"
    book.active.append(["Ship", "Tons"])
    book.active.append(["Ada", 900])
    return _saved(book)


def _saved(document) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # the writing libraries use a deprecated clock on newer Pythons
        warnings.simplefilter("ignore", DeprecationWarning)
        document.save(stream)
    return stream.getvalue()


class TestOffice(ParserContract):
    component = "office/office"
    samples = (
        Sample(
            "letter.docx",
            contains=["## Harbour", "The ferry leaves at noon.", "| Ada | 900 |"],
            title="Letter",
            content=letter(),
        ),
        Sample(
            "deck.pptx",
            contains=["## First slide", "A point", "Say this aloud"],
            title="Deck",
            content=slides(),
        ),
        Sample(
            "fleet.xlsx", contains=["## Fleet", "| Ada | 900 |"], title="Book", content=workbook()
        ),
        Sample("fleet.csv", contains=["| Ada | 900 |"], content=b"Ship;Tons\nAda;900\nBob;80\n"),
    )
    foreign = (b"%PDF-1.7 not mine", b"{\\rtf1 not mine}", b"<html><body>saved as docx")
    truncations = 24


class TestPlugin(PluginContract):
    plugin = "office"

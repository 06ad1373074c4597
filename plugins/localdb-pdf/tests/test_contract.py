from pdf_files import image_content, pages, pdf, rewritten, text_content

from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.plugin import PluginContract


def lease() -> bytes:
    content = pages(
        ["1 Lease of the Mill", "The tenant keeps the wheel in order."],
        ["2 Rent", "Rent is due on the first of May."],
    )
    return rewritten(
        content, info={"/Title": "Lease"}, outline=[("Lease of the Mill", 0, 1), ("Rent", 1, 1)]
    )


def half_scanned() -> bytes:
    return pdf(text_content("A cover letter goes with the scan."), image_content())


class TestPdf(ParserContract):
    component = "pdf/pdf"
    samples = (
        Sample(
            "lease.pdf",
            contains=["# 1 Lease of the Mill", "the wheel"],
            title="Lease",
            content=lease,
        ),
        Sample("half.pdf", contains=["A cover letter"], content=half_scanned),
    )
    foreign = (
        b"",
        b"<!doctype html><title>Not found</title>",
        b"plain text",
        b"PK\x03\x04 a zip",
        b"\x00" * 2000 + b"%PDF-1.7 too late",
    )


class TestPlugin(PluginContract):
    plugin = "pdf"

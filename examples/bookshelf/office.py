"""The parts of Word, Excel and PowerPoint files: what a reader needs, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

import contents

XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_VENDOR: Final = "application/vnd.openxmlformats-officedocument"
_CORE: Final = "application/vnd.openxmlformats-package.core-properties+xml"
_COLOURS: Final = {
    "dk1": "000000",
    "lt1": "FFFFFF",
    "dk2": "1F3A4D",
    "lt2": "EEF3F5",
    "accent1": "2A6F97",
    "accent2": "C8553D",
    "accent3": "588157",
    "accent4": "E9C46A",
    "accent5": "7B4B94",
    "accent6": "457B9D",
    "hlink": "0563C1",
    "folHlink": "954F72",
}


def docx() -> dict[str, str]:
    """A Word file: title, headings, paragraphs and a table."""
    body = [_docx_paragraph(contents.REPAIR_TITLE, "Title")]
    for heading, paragraphs in contents.REPAIR:
        body.append(_docx_paragraph(heading, "Heading1"))
        body += [_docx_paragraph(paragraph) for paragraph in paragraphs]
    body.append(_docx_paragraph("Torque", "Heading1"))
    cells = "".join(
        "<w:tr>" + "".join(f"<w:tc>{_docx_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in contents.REPAIR_TORQUE
    )
    body.append(f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{cells}</w:tbl>")
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    styles = "".join(
        f'<w:style w:type="paragraph"{default} w:styleId="{name}"><w:name w:val="{shown}"/>'
        "</w:style>"
        for name, shown, default in (
            ("Normal", "Normal", ' w:default="1"'),
            ("Title", "Title", ""),
            ("Heading1", "heading 1", ""),
        )
    )
    kind = f"{_VENDOR}.wordprocessingml"
    return {
        **_office("word/document.xml", contents.REPAIR_TITLE),
        "[Content_Types].xml": _types(
            {
                "/word/document.xml": f"{kind}.document.main+xml",
                "/word/styles.xml": f"{kind}.styles+xml",
            }
        ),
        "word/document.xml": f"{XML}<w:document {space}><w:body>{''.join(body)}<w:p/></w:body>"
        "</w:document>",
        "word/styles.xml": f"{XML}<w:styles {space}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": _relations({"rId1": ("styles", "styles.xml")}),
    }


def _docx_paragraph(text: str, style: str = "") -> str:
    chosen = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{chosen}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def xlsx() -> dict[str, str]:
    """A workbook with two sheets."""
    numbers = range(1, len(contents.CATALOGUE) + 1)
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheets = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, (name, _) in zip(numbers, contents.CATALOGUE, strict=True)
    )
    kind = f"{_VENDOR}.spreadsheetml"
    parts = {
        **_office("xl/workbook.xml", "Catalogue of things to lend"),
        "[Content_Types].xml": _types(
            {"/xl/workbook.xml": f"{kind}.sheet.main+xml"}
            | {f"/xl/worksheets/sheet{n}.xml": f"{kind}.worksheet+xml" for n in numbers}
        ),
        "xl/workbook.xml": f'{XML}<workbook {space} xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in numbers}
        ),
    }
    for n, (_, rows) in zip(numbers, contents.CATALOGUE, strict=True):
        lines = "".join(
            f'<row r="{r}">' + "".join(_xlsx_cell(r, c, v) for c, v in enumerate(row)) + "</row>"
            for r, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f"{XML}<worksheet {space}><sheetData>{lines}</sheetData></worksheet>"
        )
    return parts


def _xlsx_cell(row: int, column: int, value: str | float) -> str:
    place = f'r="{chr(ord("A") + column)}{row}"'
    if isinstance(value, str):
        return f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c {place}><v>{value:g}</v></c>"


def pptx() -> dict[str, str]:
    """Slides, with the one master and the one layout that PowerPoint insists on."""
    numbers = range(1, len(contents.SLIDES) + 1)
    kind = f"{_VENDOR}.presentationml"
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n + 1}"/>' for n in numbers)
    slides = {f"rId{n + 1}": ("slide", f"slides/slide{n}.xml") for n in numbers}
    parts = {
        **_office("ppt/presentation.xml", contents.SLIDES[0][0]),
        "[Content_Types].xml": _types(
            {
                "/ppt/presentation.xml": f"{kind}.presentation.main+xml",
                "/ppt/slideMasters/slideMaster1.xml": f"{kind}.slideMaster+xml",
                "/ppt/slideLayouts/slideLayout1.xml": f"{kind}.slideLayout+xml",
                "/ppt/theme/theme1.xml": f"{_VENDOR}.theme+xml",
            }
            | {f"/ppt/slides/slide{n}.xml": f"{kind}.slide+xml" for n in numbers}
        ),
        "ppt/presentation.xml": _slideml(
            "presentation",
            '<p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
            f'<p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/>'
            '<p:notesSz cx="6858000" cy="9144000"/>',
        ),
        "ppt/_rels/presentation.xml.rels": _relations(
            {"rId1": ("slideMaster", "slideMasters/slideMaster1.xml"), **slides}
        ),
        "ppt/slideMasters/slideMaster1.xml": _slideml(
            "sldMaster",
            _shapes("") + '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1"'
            ' accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5"'
            ' accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
            '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst>',
        ),
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": _relations(
            {
                "rId1": ("slideLayout", "../slideLayouts/slideLayout1.xml"),
                "rId2": ("theme", "../theme/theme1.xml"),
            }
        ),
        "ppt/slideLayouts/slideLayout1.xml": _slideml("sldLayout", _shapes("")),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": _relations(
            {"rId1": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
        "ppt/theme/theme1.xml": _theme(),
    }
    for n, (title, points) in zip(numbers, contents.SLIDES, strict=True):
        shapes = _shape(2, "title", [title], top=300000) + _shape(3, "body", points, top=1700000)
        parts[f"ppt/slides/slide{n}.xml"] = _slideml("sld", _shapes(shapes))
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = _relations(
            {"rId1": ("slideLayout", "../slideLayouts/slideLayout1.xml")}
        )
    return parts


def _slideml(root: str, inner: str) -> str:
    return (
        f'{XML}<p:{root} xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        f' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}">'
        f"{inner}</p:{root}>"
    )


def _shapes(shapes: str) -> str:
    return (
        '<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
        f"</p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
    )


def _shape(number: int, kind: str, lines: Iterable[str], *, top: int) -> str:
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{kind}"/><p:cNvSpPr/>'
        f'<p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f'<p:spPr><a:xfrm><a:off x="500000" y="{top}"/><a:ext cx="8100000" cy="1300000"/></a:xfrm>'
        f"</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>{text}</p:txBody></p:sp>"
    )


def _theme() -> str:
    colours = "".join(
        f'<a:{name}><a:srgbClr val="{shade}"/></a:{name}>' for name, shade in _COLOURS.items()
    )
    font = '<a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'{XML}<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
        f' name="Quay"><a:themeElements><a:clrScheme name="Quay">{colours}</a:clrScheme>'
        f'<a:fontScheme name="Quay"><a:majorFont>{font}</a:majorFont>'
        f"<a:minorFont>{font}</a:minorFont></a:fontScheme>"
        f'<a:fmtScheme name="Quay"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f"<a:lnStyleLst>{f'<a:ln>{fill}</a:ln>' * 3}</a:lnStyleLst>"
        f"<a:effectStyleLst>{effect * 3}</a:effectStyleLst>"
        f"<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )


def _office(main: str, title: str) -> dict[str, str]:
    """What every Office file has: the types come first, so their place is kept here."""
    return {
        "[Content_Types].xml": "",
        "_rels/.rels": _relations(
            {"rId1": ("officeDocument", main)},
            f'<Relationship Id="rId2" Target="docProps/core.xml"'
            f' Type="{_PACKAGE}/relationships/metadata/core-properties"/>',
        ),
        "docProps/core.xml": f'{XML}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        ' xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>Alder Quay Lending Library</dc:creator>"
        '<dcterms:created xsi:type="dcterms:W3CDTF">2024-05-02T09:00:00Z</dcterms:created>'
        "</cp:coreProperties>",
    }


def _types(parts: Mapping[str, str]) -> str:
    overrides = "".join(
        f'<Override PartName="{name}" ContentType="{kind}"/>'
        for name, kind in {**parts, "/docProps/core.xml": _CORE}.items()
    )
    return (
        f'{XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(related: Mapping[str, tuple[str, str]], more: str = "") -> str:
    lines = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in related.items()
    )
    return f'{XML}<Relationships xmlns="{_PACKAGE}/relationships">{lines}{more}</Relationships>'

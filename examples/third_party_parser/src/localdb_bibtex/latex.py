"""LaTeX in values as plain text: accents, letters, dashes, quotes; braces vanish."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]+)\*?[ \t\n]*"
    r"|\\(?P<mark>.)"
    r"|(?P<math>\$[^$]*\$)"
    r"|(?P<ligature>---?|``|''|~)"
    r"|(?P<brace>[{}])"
    r"|(?P<text>[^\\$~{}`'-]+|.)",
    re.DOTALL,
)

_ACCENTS: Final = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
    "t": "\u0361",
}
_WORDS: Final = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
    "dh": "ð",
    "DH": "Ð",
    "dj": "đ",
    "DJ": "Đ",
    "th": "þ",
    "TH": "Þ",
    "S": "§",
    "P": "¶",
    "pounds": "£",
    "copyright": "©",
    "euro": "€",
    "ldots": "…",
    "dots": "…",
    "textendash": "–",
    "textemdash": "—",
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textquoteright": "’",
    "textquoteleft": "‘",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "newline": " ",
    "par": " ",
}
_MARKS: Final = {"\\": " ", "-": "", "/": "", ",": " ", ";": " ", ":": " ", "!": "", "\n": " "}
_LIGATURES: Final = {"--": "–", "---": "—", "``": "“", "''": "”", "~": " "}
_VERBATIM = re.compile(r"\\([_%&#~$])")


def plain(value: str) -> str:
    """One line of plain text, composed (NFC). Commands that nobody knows leave their arguments."""
    out: list[str] = []
    accent = ""
    for token in _TOKEN.finditer(value):
        kind, text = token.lastgroup, token[0]
        if kind in ("word", "mark"):
            name = token[kind]
            if name in _ACCENTS:
                accent = _ACCENTS[name]
                continue
            text = _WORDS.get(name, "") if kind == "word" else _MARKS.get(name, name)
        elif kind == "ligature":
            text = _LIGATURES.get(text, text)
        elif kind == "brace":
            continue
        if accent and text.strip():
            text = text.lstrip()
            text = text[0] + accent + text[1:]
            accent = ""
        out.append(text)
    return unicodedata.normalize("NFC", " ".join("".join(out).split()))


def verbatim(value: str) -> str:
    """An address or an identifier: braces and LaTeX's escapes off, nothing else."""
    bare = _VERBATIM.sub(r"\1", value.replace("{", "").replace("}", ""))
    return "".join(bare.split())

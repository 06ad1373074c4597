"""Characters that Word takes from a symbol font by number."""

from __future__ import annotations

_PRIVATE = 0xF000
_GREEK = dict(
    zip(
        range(0x41, 0x5B),
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
) | dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SIGNS = dict(
    zip(
        range(0xA1, 0xE1),
        "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊",
        strict=True,
    )
)
_TABLE = _GREEK | _SIGNS


def symbol(font: str, code: str) -> str:
    """The Unicode character of ``code`` (hexadecimal) in ``font``.

    Symbol is translated; of other picture fonts nothing readable is known.
    """
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    private = _PRIVATE <= number < _PRIVATE + 0x100
    if private:
        number -= _PRIVATE
    if font.lower() == "symbol" and number < 0x100:
        return _TABLE.get(number, chr(number) if 0x20 <= number < 0x7F else "")
    if private:
        return ""
    return chr(number) if 0x20 <= number < 0xD800 else ""


def translated(font: str, text: str) -> str:
    """Text whose private characters are those of a symbol font."""
    return "".join(
        symbol(font, f"{ord(c):x}") if _PRIVATE <= ord(c) < _PRIVATE + 0x100 else c for c in text
    )

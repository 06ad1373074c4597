"""One reference as a reader would want to find it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from localdb_bibtex.entries import Bibliography, Entry
from localdb_bibtex.latex import plain, verbatim
from localdb_bibtex.names import people
from localdb_core.domain import Metadata

_INHERITED: Final = ("year", "date", "publisher", "editor", "series", "volume", "address")
_VENUES: Final = (
    *("journal", "journaltitle", "booktitle", "school", "institution"),
    *("howpublished", "organization", "series"),
)
_IDENTIFIERS: Final = ("doi", "isbn", "issn", "eprint", "url")
_OTHERS: Final = "others"


def inherit(found: Bibliography) -> None:
    """Fill in what a ``crossref`` leaves to the entry it names. Raises ExtractionFailed."""
    by_key: dict[str, Entry] = {}
    for entry in found.entries:
        by_key.setdefault(entry.key.lower(), entry)
    for entry in found.entries:
        parent = by_key.get(entry.fields.get("crossref", "").strip().lower())
        if parent is None or parent is entry:
            continue
        offered = {name: parent.fields.get(name) for name in _INHERITED}
        offered["booktitle"] = parent.fields.get("booktitle", parent.fields.get("title"))
        for name, value in offered.items():
            if value is not None and name not in entry.fields:
                found.spend(len(value))
                entry.fields[name] = value


class Reference:
    """What an entry says, in plain text."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._authors = people(self._raw("author"))
        self._editors = people(self._raw("editor"))

    @property
    def title(self) -> str:
        """Title and subtitle; the key, or the type, when there is none."""
        parts = filter(None, (self._plain("title"), self._plain("subtitle")))
        return ": ".join(parts) or self._entry.key or self._entry.type

    @property
    def year(self) -> str:
        """The year, or BibLaTeX's date."""
        return self._plain("year") or self._plain("date")

    def text(self) -> str:
        """Paragraphs: who, when and where; what it is about; how to get and to cite it."""
        about = [
            self._plain(name) for name in ("abstract", "note", "annote", "annotation", "addendum")
        ]
        keywords = ", ".join(self._keywords())
        identifiers = [f"{n}: {v}" for n in _IDENTIFIERS if (v := verbatim(self._raw(n)))]
        paragraphs = (
            self._imprint(),
            *about,
            f"Keywords: {keywords}" if keywords else "",
            "\n".join([*identifiers, f"cite as: {self._entry.key} ({self._entry.type})"]),
        )
        return "\n\n".join(filter(None, paragraphs))

    def metadata(self) -> Metadata:
        """The same for filters."""
        return Metadata(
            title=self._plain("title") or None,
            creator=tuple(name for name in self._authors if name.lower() != _OTHERS),
            contributor=tuple(name for name in self._editors if name.lower() != _OTHERS),
            subject=tuple(self._keywords()),
            description=self._plain("abstract") or None,
            publisher=self._plain("publisher") or None,
            date=self.year or None,
            type=self._entry.type,
            identifier=next(
                (found for name in _IDENTIFIERS if (found := verbatim(self._raw(name)))), None
            ),
            language=None,
        )

    def _imprint(self) -> str:
        """``Authors (year). Edited by. Venue, volume, number, pages. Publisher, place.``"""
        venue = next(filter(None, map(self._plain, _VENUES)), "")
        facts = (
            (f"edition {self._plain('edition')}", "edition"),
            (f"volume {self._plain('volume')}", "volume"),
            (f"number {self._plain('number')}", "number"),
            (f"chapter {self._plain('chapter')}", "chapter"),
            (f"pages {self._plain('pages')}", "pages"),
        )
        place = [venue, *(text for text, name in facts if self._plain(name))]
        house = [self._plain("publisher"), self._plain("address") or self._plain("location")]
        when = f"({self.year})" if self.year else ""
        sentences = (
            " ".join(filter(None, (_listed(self._authors), when))),
            f"Edited by {_listed(self._editors)}" if self._editors else "",
            ", ".join(filter(None, place)),
            ", ".join(filter(None, house)),
        )
        return " ".join(f"{sentence.rstrip('.')}." for sentence in sentences if sentence)

    def _keywords(self) -> Iterable[str]:
        parts = self._plain("keywords").replace(";", ",").split(",")
        return filter(None, map(str.strip, parts))

    def _raw(self, name: str) -> str:
        return self._entry.fields.get(name, "")

    def _plain(self, name: str) -> str:
        return plain(self._raw(name))


def _listed(names: tuple[str, ...]) -> str:
    """``A, B and C``; BibTeX's ``and others`` becomes *et al.*"""
    if len(names) > 1 and names[-1].lower() == _OTHERS:
        return f"{', '.join(names[:-1])} et al."
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

"""Front matter read into Dublin Core (D-01, L-BYD-13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from localdb_core.domain import Metadata
from localdb_core.domain.frontmatter import FrontMatter

_SCALARS = {
    "title": ("title",),
    "description": ("description", "summary", "abstract", "excerpt"),
    "date": ("date", "published", "date_published", "publishdate", "created", "pubdate"),
    "language": ("lang", "language", "locale"),
    "publisher": ("publisher",),
    "rights": ("rights", "license", "licence", "copyright"),
    "identifier": ("identifier", "doi", "isbn", "issn"),
    "source": ("source", "source_url", "canonical_url", "canonical"),
    "coverage": ("coverage",),
    "type": ("type",),
}
_LISTS = {
    "creator": ("author", "authors", "creator", "creators", "by"),
    "subject": ("tags", "tag", "keywords", "subject", "subjects", "categories", "category"),
    "contributor": ("contributor", "contributors", "editor", "editors"),
    "relation": ("relation", "related"),
}
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_SEPARATOR = re.compile(r"\s*[,;]\s*")
_LONGEST = 10_000
_MOST = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of front matter: metadata, or the reason why there is none."""

    metadata: Metadata
    problem: str = ""


def read_front_matter(found: FrontMatter) -> Reading:
    """Dublin Core of front matter; never raises, whatever the author wrote."""
    try:
        values = _load(found)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it is nested too deeply"
        return Reading(Metadata(), f"front matter is not valid {found.format.upper()}: {reason}")
    if values is None:
        return Reading(Metadata())
    if not isinstance(values, Mapping):
        return Reading(Metadata(), "front matter holds no keys; it is kept as text")
    return Reading(_to_metadata(values))


def _load(found: FrontMatter) -> Any:  # Any: whatever the author wrote
    if found.format == "toml":
        import tomllib

        return tomllib.loads(found.body)
    import yaml  # 12 ms

    # Every scalar stays the text its author typed, no tag builds an object, and aliases
    # are neither merged nor copied: nothing an author writes can grow or run.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return yaml.load(found.body, Loader=loader)  # a BaseLoader builds only str, list, dict
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 2}" if mark is not None else ""
        raise ValueError(f"{getattr(error, 'problem', None) or error}{place}") from error


def _to_metadata(values: Mapping[Any, Any]) -> Metadata:  # Any: YAML or TOML values
    flat = {str(key).strip().lower().replace("-", "_"): value for key, value in values.items()}
    taxonomies = flat.get("taxonomies")
    if isinstance(taxonomies, Mapping):
        flat = {**{str(key).lower(): value for key, value in taxonomies.items()}, **flat}
    fields: dict[str, Any] = {name: _scalar(flat, keys) for name, keys in _SCALARS.items()}
    fields |= {name: _several(flat, keys, name) for name, keys in _LISTS.items()}
    return Metadata(**fields)


def _scalar(values: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:  # Any: as above
    for key in keys:
        for text in _texts(values.get(key)):
            return text
    return None


def _several(values: Mapping[str, Any], keys: tuple[str, ...], name: str) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for key in keys:
        value = values.get(key)
        for text in _texts(value):
            # "a, b" is a list of tags; in a name the comma may stand before the first name.
            apart = name == "subject" and isinstance(value, str)
            for part in _SEPARATOR.split(text) if apart else (text,):
                if part:
                    kept.setdefault(part)
    return tuple(kept)[:_MOST]


def _texts(value: Any) -> Iterator[str]:  # Any: as above
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("title") or value.get("text")
    for item in value[:_MOST] if isinstance(value, list) else (value,):
        if isinstance(item, Mapping):
            item = item.get("name") or item.get("title")
        if item is None or isinstance(item, list | Mapping | bool):
            continue
        text = " ".join(str(item)[:_LONGEST].split())
        if text not in _NOTHING:
            yield text

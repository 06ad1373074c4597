"""From text to terms: the same analysis for entries and for questions."""

from __future__ import annotations

import re
from typing import Any, Final

from localdb_whoosh.library import whoosh

ENGLISH: Final = "en"

# Named here because releases of Whoosh differ in their own default.
_WORD: Final = r"\w+(?:\.\w+)*"
# Whoosh's Arabic stemmer fails on every word since Python 3.7 (a bad escape in its patterns).
_BROKEN: Final = frozenset({"ar"})
# Scripts without spaces; Whoosh would take a whole run for one word.
_UNSPACED = re.compile("[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def supported(language: str | None) -> str:
    """The code of the analysis for a BCP 47 tag: a language with a stemmer, ``en``, or ``none``."""
    if language is None:
        return ENGLISH
    code = language.lower().replace("_", "-").partition("-")[0]
    lang = whoosh().lang
    works = code in lang.languages and code not in _BROKEN and lang.has_stemmer(code)
    return code if works else "none"


class Words:
    """Cuts, lowers and stems text in one language.

    Every word is indexed, also stop words and single characters ("vitamin K", "The
    Who"); stop words are dropped from a question, unless it has no other words.
    """

    def __init__(self, language: str) -> None:
        # One chain for entries and two for questions: a stemmer's cache is not for two threads.
        self.analyzer = _analyzer(language, stop=False)
        self._all = _analyzer(language, stop=False)
        self._without_stops = _analyzer(language, stop=True)

    def of_question(self, text: str) -> list[str]:
        """The distinct terms of a question, in order."""
        cleaned = clean(text)
        return _terms(self._without_stops, cleaned) or _terms(self._all, cleaned)


def clean(text: str) -> str:
    """Text Whoosh can take: encodable, and unspaced scripts cut into pairs of characters."""
    encodable = text.encode("utf-8", "replace").decode()
    return _UNSPACED.sub(_pairs, encodable)


def _pairs(run: re.Match[str]) -> str:
    text = run.group()
    pairs = [text[i : i + 2] for i in range(len(text) - 1)] or [text]
    return f" {' '.join(pairs)} "


def _terms(analyzer: Any, text: str) -> list[str]:
    return list(dict.fromkeys(token.text for token in analyzer(text, mode="query")))


def _analyzer(language: str, *, stop: bool) -> Any:  # Any: Whoosh has no types
    analysis = whoosh().analysis
    chain = analysis.RegexTokenizer(_WORD) | analysis.LowercaseFilter()
    if stop and whoosh().lang.has_stopwords(language):
        chain = chain | analysis.StopFilter(lang=language, stoplist=None, minsize=1)
    if language != "none":
        chain = chain | analysis.StemFilter(lang=None if language == ENGLISH else language)
    return chain

"""Terms worked out with the parsing are those that are worked out from the store."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dofrag.search.documents import terms_ahead, with_terms
from dofrag.search.engine import index_terms
from dofrag.store.headings import encode_path

WORDS = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["RESOLUCIÓN 1º", 'dice "así" \\ y\nmás', "\x00", "“comillas”", "Ñandú", "жизнь", "\u0301x"]
)
PATHS = st.lists(WORDS, max_size=3).map(tuple)


@given(st.lists(st.tuples(PATHS, WORDS), max_size=8))
def test_both_ways_give_the_same_terms(chunks: list[tuple[tuple[str, ...], str]]) -> None:
    terms = index_terms()
    stored = [(n, path, None, text) for n, (path, text) in enumerate(chunks)]
    texts, headings = terms_ahead(chunks, terms)
    later = list(with_terms(stored, terms))
    ahead = [(text.split(), path.split()) for text, path in zip(texts, headings, strict=True)]
    assert [(text.split(), path.split()) for _, _, text, path in later] == ahead
    assert [n for n, *_ in later] == list(range(len(chunks)))


@given(PATHS)
def test_a_path_is_hashed_as_json(path: tuple[str, ...]) -> None:
    assert encode_path(path) == json.dumps(path, ensure_ascii=False)
    assert tuple(json.loads(encode_path(path))) == path

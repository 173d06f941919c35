"""The shared word data: rows that mean something, cues that know their examples."""

from __future__ import annotations

import pytest

from dofrag.text.fold import fold, stem
from dofrag.text.lexicon import Cue, asks, cues, legal_words, same_words


@pytest.mark.parametrize("cue", cues(), ids=lambda cue: cue.id)
def test_a_cue_knows_its_examples(cue: Cue) -> None:
    assert cue.examples
    assert cue.counterexamples
    assert all(asks(cue.id, text) for text in cue.examples)
    assert not any(asks(cue.id, text) for text in cue.counterexamples)


def test_an_unknown_cue_is_loud() -> None:
    with pytest.raises(KeyError):
        asks("colour", "¿De qué color?")


def test_no_row_leads_back_to_itself() -> None:
    for said, words in legal_words().items():
        assert words
        assert said == said.lower()
        assert fold(said) not in {fold(word) for word in words}
        assert len(set(words)) == len(words)


def test_a_word_stands_in_one_row_of_one_meaning() -> None:
    stems = [stem(fold(word)) for row in same_words() for word in {stem(fold(w)): w for w in row}.values()]
    assert len(stems) == len(set(stems))

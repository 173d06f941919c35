"""The digest that an update keeps running is the one that reading everything gives."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, small_corpus, tiny_parse, write

from dofrag.ingest.pipeline import Ingest, build, remove, update
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index
from dofrag.store.digest import RUNNING, corpus_digest

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["write", "retitle", "remove"]), st.integers(0, 4), st.integers(1, 3)),
    min_size=1, max_size=5,
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(changes=CHANGES)
def test_any_updates(changes: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("digest")
    corpus, index = root / "corpus", root / "index"
    small_corpus(corpus, 4)
    build([corpus], index, INGEST)
    there: set[str] = set()
    for what, n, lines in changes:
        code = f"77{n}"
        if what == "remove":
            if code not in there:
                continue
            remove([code], index, INGEST)
            there.discard(code)
        else:
            texts = [f"línea {i}" for i in range(lines)]
            path = write(corpus, f"{code}.md", *texts, title=f"Título {lines if what == 'retitle' else ''}")
            update([path], index, INGEST)
            there.add(code)
        with open_index(index) as opened:
            assert opened.parts["corpus"] == corpus_digest(opened.reader.connection).value
            assert RUNNING not in opened.reader.meta()


@pytest.mark.parametrize("older", [False, True])
def test_an_update_that_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool) -> None:
    """`older`: it was code that kept no running digest."""
    corpus, index = tmp_path / "corpus", tmp_path / "index"
    small_corpus(corpus, 4)
    build([corpus], index, INGEST)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dofrag.ingest.pipeline.catch_up", die)
        with pytest.raises(KeyboardInterrupt):
            update([write(corpus, "801.md", "uno"), write(corpus, "802.md", "dos")], index, INGEST)
    store = sqlite3.connect(index / "store-1.sqlite")
    assert store.execute("SELECT count(*) FROM meta WHERE key = ?", [RUNNING]).fetchone() == (1,)
    if older:
        store.execute("DELETE FROM meta WHERE key = ?", [RUNNING])
        store.commit()
    store.close()
    update([write(corpus, "803.md", "tres")], index, INGEST)
    assert verify(index, lambda *_: None).faults == []
    with open_index(index) as opened:
        assert opened.parts["corpus"] == corpus_digest(opened.reader.connection).value


def test_an_update_does_not_read_every_publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, index = tmp_path / "corpus", tmp_path / "index"
    small_corpus(corpus, 4)
    build([corpus], index, INGEST)

    def never(*_: object) -> None:
        raise AssertionError("the whole corpus was read")

    monkeypatch.setattr("dofrag.ingest.pipeline.corpus_digest", never)
    monkeypatch.setattr("dofrag.store.digest.corpus_digest", never)
    update([write(corpus, "801.md", "uno")], index, INGEST)
    remove(["801"], index, INGEST)

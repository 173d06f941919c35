"""What a file said stays while the file cannot be read, and goes when the file is gone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_gazette import EVERYTHING, TinyProfile, small_corpus, tiny_parse, write

from dofrag.ingest import pipeline
from dofrag.ingest.pipeline import Ingest, build, update
from dofrag.ingest.report import Report
from dofrag.ingest.status import status
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
STAYS = "; what it said before stays in the index"
SPOILT = {
    "FAIL": "5001.md: told to fail",
    "": "5001.md is empty",
    "BUG": "reader failed: RuntimeError: a bug in a reader",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small_corpus(tmp_path / "corpus", 3)
    write(tmp_path / "corpus", "5001.md", "el faro de la costa", "otra línea")
    return tmp_path / "corpus"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def chunk_ids(index: Path, code: str) -> list[int]:
    with open_index(index) as opened:
        return [chunk.id for chunk in opened.reader.chunks(code, EVERYTHING)]


def sources(index: Path, query: str) -> list[tuple[str, str]]:
    with open_index(index) as opened:
        hits = opened.backend.search_chunks(query, EVERYTHING, limit=9).hits
        found = {hit.code: opened.reader.publication(hit.code, EVERYTHING) for hit in hits}
    return sorted((code, publication.source) for code, publication in found.items() if publication)


def sound(report: Report, index: Path) -> None:
    assert report.problems == ()
    assert verify(index, pipeline.silent).faults == []
    told = status(index)
    assert told.files == told.indexed + told.alternates + len(told.failed)


@pytest.mark.parametrize("text", sorted(SPOILT))
@pytest.mark.parametrize("act", [build, update])
def test_what_it_said_stays_until_it_can_be_read_again(corpus: Path, index: Path, act: object, text: str) -> None:
    assert callable(act)
    build([corpus], index, INGEST)
    before = chunk_ids(index, "5001")
    path = corpus / "5001.md"
    good = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        report = act([corpus], index, INGEST)
        assert report.failed == (("5001.md", SPOILT[text] + STAYS),)
        assert status(index).failed == report.failed
        assert sources(index, "faro") == [("5001", "5001.md")]
        assert chunk_ids(index, "5001") == before
        sound(report, index)
    path.write_text(good, encoding="utf-8")
    report = act([corpus], index, INGEST)
    assert report.failed == ()
    assert chunk_ids(index, "5001") == before
    sound(report, index)
    path.unlink()
    report = build([corpus], index, INGEST)
    assert sources(index, "faro") == []
    sound(report, index)


@pytest.mark.parametrize("text", ["", "FAIL"])
@pytest.mark.parametrize("act", [build, update])
def test_another_conversion_takes_over(corpus: Path, index: Path, act: object, text: str) -> None:
    assert callable(act)
    write(corpus, "5001.txt", "el faro de la costa", "otra línea")
    assert ("5001.txt", "5001.md") in build([corpus], index, INGEST).alternate_of
    (corpus / "5001.md").write_text(text, encoding="utf-8")
    report = act([corpus], index, INGEST)
    assert report.failed == (("5001.md", SPOILT[text]),)
    assert sources(index, "faro") == [("5001", "5001.txt")]
    sound(report, index)


def test_the_other_conversion_stays_an_alternate_while_nobody_asks_it(corpus: Path, index: Path) -> None:
    write(corpus, "txt/5001.txt", "el faro de la costa", "otra línea")
    build([corpus], index, INGEST)
    (corpus / "5001.md").write_text("FAIL", encoding="utf-8")
    report = update([corpus / "5001.md"], index, INGEST)
    assert sources(index, "faro") == [("5001", "5001.md")]
    sound(report, index)
    report = update([corpus], index, INGEST)
    assert sources(index, "faro") == [("5001", "txt/5001.txt")]
    sound(report, index)


def test_what_other_code_cut_does_not_stay(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    (corpus / "5001.md").write_text("FAIL", encoding="utf-8")
    for chunker in ("t1", "t2"):  # failed before the code changed, and when it does
        report = build([corpus], index, replace(INGEST, chunker=chunker))
        sound(report, index)
    assert report.failed == (("5001.md", SPOILT["FAIL"]),)
    assert sources(index, "faro") == []
    write(corpus, "5001.md", "el faro de la costa")
    build([corpus], index, replace(INGEST, chunker="t2"))
    (corpus / "5001.md").write_text("FAIL", encoding="utf-8")
    report = build([corpus], index, replace(INGEST, chunker="t3"))
    assert sources(index, "faro") == []
    sound(report, index)


def test_what_lies_in_a_folder_that_cannot_be_read_stays(
    corpus: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus, "costa/5002.md", "la boya roja")
    build([corpus], index, INGEST)
    scandir = os.scandir

    def refused(path: Path) -> object:  # root may read any folder, so its own rights cannot be taken from a test
        if str(path).endswith("costa"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    for act in (build, update, build):
        report = act([corpus], index, INGEST)
        assert report.failed == (("costa", "folder cannot be read: Permission denied"),)
        assert sources(index, "boya") == [("5002", "costa/5002.md")]
        sound(report, index)
    monkeypatch.undo()
    (corpus / "costa/5002.md").unlink()
    report = build([corpus], index, INGEST)
    assert report.failed == ()
    assert sources(index, "boya") == []
    sound(report, index)

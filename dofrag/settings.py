"""Where things are, from the environment. Settings stop at `wiring`: below it, parts get the values they need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError

CONFIG = "dof.toml"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
APIS = ("chat", "responses")
MODES = ("auto", "strict_tools", "tools", "json_schema", "json_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`index` is the default index, None when there is none; `cache` is where the sample's index is kept."""

    index: Path | None
    trace_dir: Path
    cache: Path


def from_environment(environ: Mapping[str, str], cwd: Path) -> Settings:
    """`DOF_INDEX` names the default index, else `indexes/dof` under the working folder where it exists.
    `DOF_TRACE_DIR` names the folder of traces (default `traces`). The cache follows `XDG_CACHE_HOME`."""
    named = environ.get("DOF_INDEX")
    usual = cwd / "indexes" / "dof"
    index = Path(named) if named else (usual if usual.is_dir() else None)
    home = environ.get("HOME") or environ.get("USERPROFILE") or str(cwd)
    cache = Path(environ.get("XDG_CACHE_HOME") or Path(home) / ".cache") / "dofrag"
    return Settings(index=index, trace_dir=Path(environ.get("DOF_TRACE_DIR") or "traces"), cache=cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model sits in the planner's seat. `api_key` is never printed; None: the endpoint asks for none."""

    name: str
    base_url: str
    api_key: str | None
    api: str = "chat"
    mode: str = "auto"
    max_output_tokens: int = 4_000
    timeout_s: float = 120.0

    def __repr__(self) -> str:
        return f"ModelSettings(name={self.name!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What the caller named of a model; what is None comes from the environment or `dof.toml`."""

    name: str | None = None
    base_url: str | None = None
    api: str | None = None


def model_settings(environ: Mapping[str, str], cwd: Path, choice: ModelChoice) -> ModelSettings:
    """What was named on the command line, over the environment (`DOF_…`, then `OPENAI_…`), over `[model]` of
    `dof.toml`.

    Raises UsageError for a model that is not named, a key that may not go where it would, and a `dof.toml` that
    cannot be read or holds a key.
    """
    table = _table(cwd / CONFIG)

    def first(flag: str | None, *keys: str, entry: str = "") -> str | None:
        values = [flag, *(environ.get(key) for key in keys), table.get(entry)]
        return next((str(v).strip() for v in values if v not in (None, "")), None)

    chosen = first(choice.name, "DOF_MODEL", "OPENAI_MODEL", entry="name")
    if chosen is None:
        raise UsageError("no model is named", hint="--model NAME, or set DOF_MODEL")
    named = first(choice.base_url, "DOF_BASE_URL", "OPENAI_BASE_URL")
    url = named or first(None, entry="base_url") or DEFAULT_BASE_URL
    by_openai = bool(named) and named == environ.get("OPENAI_BASE_URL", "").strip()
    key = _key(environ, url, named=bool(named), by_openai=by_openai)
    return ModelSettings(
        name=chosen,
        base_url=url.rstrip("/"),
        api_key=key,
        api=_choice("api", first(choice.api, "DOF_API", entry="api") or "chat", APIS),
        mode=_choice("mode", first(None, "DOF_MODEL_MODE", entry="mode") or "auto", MODES),
        max_output_tokens=int(_number("max_output_tokens", first(None, "DOF_MAX_OUTPUT_TOKENS",
                                      entry="max_output_tokens") or "4000", 64, 200_000)),
        timeout_s=_number("timeout_s", first(None, "DOF_MODEL_TIMEOUT", entry="timeout_s") or "120", 1, 3_600),
    )  # fmt: skip


def _key(environ: Mapping[str, str], url: str, *, named: bool, by_openai: bool) -> str | None:
    """The key for an endpoint: `OPENAI_API_KEY` for OpenAI's own and for what `OPENAI_BASE_URL` names, `DOF_API_KEY`
    for what the caller names. A `dof.toml` comes with a folder, from whoever made it: no key goes to an address that
    stands there alone, unless it is OpenAI's. Raises UsageError where a key is missing or may not go."""
    own, openais = (environ.get(name) or None for name in ("DOF_API_KEY", "OPENAI_API_KEY"))
    if not named and not _is_openai(url) and own is not None:
        raise UsageError(
            f"{CONFIG} names the endpoint, and no key is sent to an address that stands in a file",
            hint="name it yourself, with --base-url or DOF_BASE_URL; or unset DOF_API_KEY",
        )
    key = own or (openais if _is_openai(url) or by_openai else None)
    if key is None and _is_openai(url):
        raise UsageError("the endpoint needs a key", hint="set DOF_API_KEY, or name another endpoint with --base-url")
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError("the key holds a character that no request can carry", hint="set DOF_API_KEY anew")
    return key


def _is_openai(url: str) -> bool:
    """Whether an address is OpenAI's own, encrypted: letter by letter, so that no reading of it can differ."""
    return url.lower() == "https://api.openai.com" or url.lower().startswith("https://api.openai.com/")


def _table(path: Path) -> Mapping[str, Any]:
    """`[model]` of the working folder's `dof.toml`; empty where there is none."""
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}", hint="it is TOML: [model] name = …") from None
    table = document.get("model", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path.name}: model is not a table", hint="[model] name = …")
    known = {"name", "base_url", "api", "mode", "max_output_tokens", "timeout_s"}
    if any("key" in name for name in table):
        raise UsageError(f"{path.name} holds a key: files are shared", hint="set DOF_API_KEY instead")
    unknown = sorted(set(table) - known)
    if unknown:
        names = ", ".join(unknown)
        raise UsageError(f"{path.name}: [model] has no {names}", hint=f"it has {', '.join(sorted(known))}")
    wrong = sorted(name for name in ("name", "base_url", "api", "mode") if not isinstance(table.get(name, ""), str))
    if wrong:
        raise UsageError(
            f"{path.name}: {', '.join(wrong)} in [model] is no text", hint='write it in quotes: name = "…"'
        )
    return table


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(f"the model's {name} {value[:40]!r} is not known", hint=f"use one of: {', '.join(allowed)}")
    return value


def _number(name: str, value: str, low: float, high: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not low <= number <= high:
        raise UsageError(f"the model's {name} {value[:40]!r} is not between {low:g} and {high:g}")
    return number


STRATEGIES = ("lexical", "vector", "hybrid")
FUSIONS = ("z", "rrf")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchChoice:
    """How the caller wants the index searched. `strategy` None: as a replayed run was, else `lexical`. What is None
    of the embedder comes from the environment. `allow_partial` takes vectors of a part of the chunks too."""

    strategy: str | None = None
    fusion: str = "z"
    allow_partial: bool = False
    embedder: str | None = None
    model: str | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSettings:
    """Where an embedding model is: `local:FOLDER-OR-NAME`, or an endpoint with a model's name. `api_key` is never
    printed. Prefixes that are None are what the model's family needs."""

    address: str
    model: str | None = None
    api_key: str | None = None
    revision: str = ""
    query_prefix: str | None = None
    passage_prefix: str | None = None

    def __repr__(self) -> str:
        return f"EmbedderSettings(model={self.model!r})"


def embedder_settings(environ: Mapping[str, str], choice: SearchChoice) -> EmbedderSettings:
    """What was named on the command line, over `DOF_EMBEDDER`, `DOF_EMBEDDER_MODEL` and `DOF_EMBEDDER_REVISION`. The
    key is `DOF_EMBEDDER_API_KEY` alone: a chat model's key is not for another endpoint. Raises UsageError where no
    embedder is named."""
    address = (choice.embedder or environ.get("DOF_EMBEDDER") or "").strip()
    if not address:
        raise UsageError(
            "no embedder is named", hint="--embedder local:FOLDER or --embedder URL, or set DOF_EMBEDDER"
        )
    return EmbedderSettings(
        address=address,
        model=choice.model or environ.get("DOF_EMBEDDER_MODEL") or None,
        api_key=environ.get("DOF_EMBEDDER_API_KEY") or None,
        revision=environ.get("DOF_EMBEDDER_REVISION") or "",
        query_prefix=choice.query_prefix,
        passage_prefix=choice.passage_prefix,
    )

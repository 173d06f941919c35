"""A run's result as text for people. Takes the result document only, so that it can print a stored one too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.cli.labels import LABELS, REASONS, STATES, STATUSES
from dofrag.cli.output import one_line, wrap
from dofrag.text.language import language_of

Json = Mapping[str, Any]
DONE = ("supported", "answered")


def render_result(result: Json, width: int) -> str:
    """The whole report, `width` columns wide, with a line end. The answer first; a run that did not answer says so
    in its first line."""
    page = _Page(result, width)
    page.headline()
    page.claims()
    page.sources()
    page.coverage()
    page.searched()
    page.limitations()
    page.footer()
    return "\n".join(page.lines).rstrip("\n") + "\n"


class _Page:
    def __init__(self, result: Json, width: int) -> None:
        self.result = result
        self.width = width
        self.language = language_of(result["question"])
        self.label = LABELS[self.language]
        self.reason = REASONS[self.language].get(result["reason"], result["reason"])
        self.numbers = {chunk_id: n for n, chunk_id in enumerate(result["citations"], 1)}
        self.answered = result["terminal_state"] == "answered"
        self.lines: list[str] = []

    def put(self, text: str, indent: str = "", hanging: str | None = None) -> None:
        self.lines += wrap(text, self.width, indent, hanging)

    def section(self, title: str) -> None:
        self.lines.append("")
        self.put(title)

    def headline(self) -> None:
        result = self.result
        state = result["terminal_state"]
        if self.answered:
            self.put(result["answer"] or "")
        else:
            name = {"needs_clarification": "clarify", "escalated": "escalated", "failed": "failed"}
            self.put(f"{self.label[name.get(state, 'not_answered')]}: {self.reason}.")
            if result["answer"]:
                self.put(result["answer"])
        correction = result["premise"]["correction"]
        if correction:
            self.put(f"{self.label['premise']}: {correction}")
        self._list("positions", [p.get("text", str(p)) for p in result["positions"]])
        self._list("options", result["options"])

    def _list(self, title: str, items: Sequence[str]) -> None:
        if items:
            self.section(f"{self.label[title]}:")
            for item in items:
                self.put(item, "  - ", "    ")

    def claims(self) -> None:
        claims = self.result["claims"]
        if self.answered:
            self.section(f"{self.label['claims']}:")
        elif claims:
            self.section(f"{self.label['partial']}:")
        elif self.result["coverage"]:
            self.section(self.label["nothing"])
        for claim in claims:
            self._claim(claim)

    def _claim(self, claim: Json) -> None:
        marks = dict.fromkeys(f"[{self.numbers.get(c['chunk_id'], '?')}]" for c in claim["citations"])
        computed = f" ({self.label['computed']})" if claim.get("computed") else ""
        text = claim["text"]
        # An extractive claim is its quote: said once is enough, in the marks of a quote.
        same = [c for c in claim["citations"] if one_line(c["quote"]) == one_line(text)]
        # A composed sentence may carry its numbers already.
        missing = [m for m in marks if m not in text]
        if same:
            text = f"«{one_line(text)}»"
        elif one_line(text) in one_line(self.result["answer"] or ""):
            # The answer said it in full just above: here one line introduces the quotes.
            text = one_line(text, self.width - 16)
        self.put(" ".join([text, *missing]) + computed, "  - ", "    ")
        for citation in claim["citations"]:
            if citation not in same:
                number = f"      [{self.numbers.get(citation['chunk_id'], '?')}] "
                self.lines += _quote(citation["quote"], self.width, number)

    def sources(self) -> None:
        sources = self.result["sources"]
        if not sources:
            return
        self.section(f"{self.label['sources']}:")
        for source in sources:
            number = f"  [{self.numbers.get(source['chunk_id'], '?')}] "
            hanging = " " * len(number)
            named = [source["cite_as"], source["issuer"], f"«{one_line(source['title'], 300)}»"]
            # A consolidated law's citation names the law itself.
            if source["kind"] == "consolidated":
                named = named[:1]
            where = f"{self.label['chunk']} {source['chunk_id']}"
            self.put(", ".join([part for part in named if part] + [where]), number, hanging)
            if source["heading_path"]:
                self.put(" > ".join(source["heading_path"]), hanging)
            if source["url"]:
                self.lines.append(hanging + one_line(source["url"]))

    def coverage(self) -> None:
        rows = [r for sub in self.result["coverage"] for r in sub["requirements"]]
        if not rows:
            return
        done = sum(r["status"] in DONE for r in rows)
        self.section(self.label["coverage"].format(done=done, total=len(rows)))
        statuses = STATUSES[self.language]
        ids = min(16, max(len(r["id"]) for r in rows))
        ends = [statuses.get(r["status"], r["status"]) + self._at(r) for r in rows]
        tail = max(len(end) for end in ends)
        room = max(12, self.width - ids - tail - 6)
        for row, end in zip(rows, ends, strict=True):
            first, *rest = wrap(row["label"], room) or [""]
            self.lines.append(f"  {row['id']:<{ids}}  {first:<{room}}  {end}".rstrip())
            self.lines += [f"  {'':<{ids}}  {line}" for line in rest]
        missing = [r for r in rows if r["status"] not in DONE]
        if missing and not self.answered:
            self.section(f"{self.label['missing']}:")
            for row in missing:
                self.put(f"{row['label']} ({statuses.get(row['status'], row['status'])})", "  - ", "    ")

    def _at(self, row: Json) -> str:
        number = self.numbers.get(row["chunk_id"])
        if row["status"] not in DONE or row["chunk_id"] is None:
            return ""
        return f" [{number}]" if number else f" ({self.label['chunk']} {row['chunk_id']})"

    def searched(self) -> None:
        if not self.result["searched"]:
            return
        self.section(f"{self.label['searched']}:")
        for search in self.result["searched"]:
            window = "/".join(search.get(end) or "..." for end in ("from", "to"))
            parts = [f'"{one_line(search["query"], 200)}"' if search["query"] else self.label["any"]]
            parts += [window] if window != ".../..." else []
            parts += [search["issuer"]] if search.get("issuer") else []
            found = self.label["found"].format(total=f"{search['total']:,}")
            self.put(f"{search['tool']}: {', '.join(parts)} -> {found}", "  - ", "    ")

    def limitations(self) -> None:
        dropped = self.result["rejected_citations"]
        self._list("limitations", list(dict.fromkeys(self.result["limitations"])))
        if dropped:
            self.put(self.label["dropped"].format(ids=", ".join(map(str, dropped))), "  - ", "    ")
        if self.result["rejections"]:
            self.put(self.label["rejected"].format(count=len(self.result["rejections"])), "  - ", "    ")

    def footer(self) -> None:
        spend = self.result["spend"]
        cost = self.label["cost"].format(
            turns=spend["turns"], calls=spend["tool_calls"], read=f"{spend['read_tokens']:,}", ms=spend["elapsed_ms"]
        )
        if spend["input_tokens"] is not None:
            money = self.label["no_price"] if spend["cost"] is None else f"US$ {spend['cost']:.4f}"
            counts = {name: f"{spend[f'{name}_tokens']:,}" for name in ("input", "output")}
            cost += self.label["model_tokens"].format(**counts, money=money)
        self.section(cost)
        state = STATES[self.language].get(self.result["terminal_state"], self.result["terminal_state"])
        codes = f"{self.result['terminal_state']}/{self.result['reason']}"
        self.put(f"{self.label['end']}: {state}, {self.reason} ({codes})")
        if self.result.get("trace"):
            see = self.label["see"].format(run_id=self.result["run_id"])
            self.lines.append(f"{self.label['trace']}: {one_line(self.result['trace'])} ({see})")


def _quote(quote: str, width: int, first: str) -> list[str]:
    """A quote, indented, its own line breaks kept."""
    hanging = " " * len(first)
    lines = wrap(f"«{quote.strip()}»", width, hanging)
    if lines:
        lines[0] = first + lines[0][len(first) :]
    return lines

"""Documents are shown as text: nothing of them is markup, and nothing of them is lost."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_front import BOMB, HOSTILE

from dofrag.review.markup import Quoted, render
from dofrag.review.passages import Source, in_context, safe_url

DRAWN = {"p", "br", "b", "mark", "div", "table", "tr", "td"}
ATTRIBUTES = {("class", "heading"), ("class", "scroll"), ("class", "text"), ("tabindex", "0"), ("tabindex", "-1")}
DOCUMENTS = st.text(st.sampled_from("ab1 \n|*#<>&\"'/=$ñ\u202e-"), max_size=80) | st.text(max_size=60)


class Seen(HTMLParser):
    """What a browser would see: the elements, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text: list[str] = []
        self.marked: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if "mark" in self._open:
            self.marked.append(data)


def seen(html: str) -> Seen:
    parser = Seen()
    parser.feed(html)
    parser.close()
    assert not parser._open
    return parser


def _letters(text: str) -> str:
    return re.sub(r"[^\w$]", "", text)


@pytest.mark.parametrize("text", [HOSTILE, BOMB])
def test_a_hostile_document_is_text(text: str) -> None:
    page = seen(render(text))
    assert {tag for tag, _ in page.tags} <= DRAWN
    assert _letters("".join(page.text)) == _letters(text.replace("\u202e", "").replace("\u202c", ""))
    assert "\u202e" not in "".join(page.text)


@given(DOCUMENTS)
def test_nothing_but_our_own_elements_and_every_word_is_there(text: str) -> None:
    page = seen(render(text))
    for tag, attributes in page.tags:
        assert tag in DRAWN
        assert set(attributes) <= ATTRIBUTES
    assert _letters("".join(page.text)) == _letters(text)


@given(DOCUMENTS, st.data())
def test_marks_stand_where_they_were_put(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    page = seen(render(text, [Quoted(start, end, "m1")]))
    assert _letters("".join(page.marked)) == _letters(text[start:end])
    assert sum(("id", "m1") in attributes for _, attributes in page.tags) <= 1


@given(DOCUMENTS, st.lists(st.tuples(st.integers(-5, 90), st.integers(-5, 90)), max_size=6))
def test_any_marks_at_all_leave_the_text_whole(text: str, spans: list[tuple[int, int]]) -> None:
    page = seen(render(text, [Quoted(a, b, f"m{n}") for n, (a, b) in enumerate(spans)]))
    assert _letters("".join(page.text)) == _letters(text)


def test_tables_headings_and_bold_are_drawn() -> None:
    html = render("## Título\n| a | **b** |\n|---|---|\n| 1 | 2 |\n\nfin", [Quoted(30, 31)])
    assert html.startswith('<p class="heading">Título</p>')
    assert "<td> <b>b</b> </td>" in html
    assert html.endswith("<p>fin</p>")


def _source(text: str, chars: int | None = None) -> Source:
    return Source(chunk_id=1, code="9", title="", issuer="", published="", cite_as="", url=None, heading="",
                  text=text, origin="index", turn=1, chars=len(text) if chars is None else chars)  # fmt: skip


def test_a_quote_is_shown_in_its_context_and_the_rest_is_cut() -> None:
    text = "línea\n" * 500 + "La cuota es de $113.14 al mes.\n" + "línea\n" * 500
    start = text.index("$113.14")
    shown = in_context(_source(text), [("$113.14", start, start + 7, "q")])
    assert '<mark id="q" tabindex="-1">$113.14</mark> al mes.' in shown.html
    assert shown.cut_before
    assert shown.cut_after
    assert 1_000 < len(shown.html) < 4_000


def test_offsets_that_do_not_fit_are_not_believed() -> None:
    text = "La cuota es de $113.14 al mes."
    shown = in_context(_source(text), [("$113.14", 0, 8, "q")])
    assert '<mark id="q" tabindex="-1">$113.14</mark>' in shown.html
    shown = in_context(_source(text), [("$999.99", 15, 22, "q")])
    assert shown.missing == ("$999.99",)
    assert "<mark" not in shown.html
    for odd in (True, "15", None, -3, 10**30):
        assert in_context(_source(text), [("$113.14", odd, odd, "q")]).missing == ()


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//x.example/", "https:", "http://[", "file:///etc/passwd", "https://a\n",
     " https://a.example", "", None],
)  # fmt: skip
def test_what_is_no_web_address_is_no_link(url: str | None) -> None:
    assert safe_url(url) is None


def test_a_web_address_is_a_link() -> None:
    assert safe_url("https://gaceta.example/nota?codigo=1&fecha=2") == "https://gaceta.example/nota?codigo=1&fecha=2"

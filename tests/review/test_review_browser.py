"""The page in a real browser: read, judged by keyboard, without scripts, with hostile text, and by axe's rules."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from review_front import LABELS, cite_as, make_campaign, served, shelf

from dofrag.review.catalog import Catalog
from dofrag.review.pages import Look
from dofrag.review.static_copy import export
from dofrag.review.verdicts import Mark, Why, read_verdicts

CHROMIUM = os.environ.get("DOF_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (DOF_CHROMIUM names one): no browser tests"
)

ROOT = Path(__file__).parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]  # fmt: skip
QUIET = "() => window.pwned === undefined"
BREAK_IN = """() => {
  const script = document.createElement('script');
  script.textContent = 'window.pwned = 1';
  const image = document.createElement('div');
  image.innerHTML = '<img src=x onerror="window.pwned = 2">';
  document.body.append(script, image);
}"""
Page = Any


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("browser") / "c", extra=48)


@pytest.fixture(scope="module")
def site(campaign: Path) -> Iterator[str]:
    with served(campaign) as (browser, where):
        yield f"http://{browser.host}{where}"


@pytest.fixture
def page(chromium: Any) -> Iterator[Page]:
    context = chromium.new_context(locale="es-MX", viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Security Policy" in message.text else None)
    page.on("dialog", lambda dialog: (faults.append("a dialog opened"), dialog.dismiss()))
    yield page
    context.close()
    assert not faults


def settled(page: Page, selector: str) -> None:
    """Wait for a page that has this, until its script has run."""
    page.wait_for_selector(selector, state="attached")
    page.wait_for_load_state("load")


def focused(page: Page, selector: str) -> None:
    """Wait until this has the focus."""
    page.wait_for_function("s => document.activeElement?.matches(s)", arg=selector)


def kept(campaign: Path, run: str) -> dict[tuple[int | None, str], Any]:
    found, bad = read_verdicts(campaign / "traces" / f"{run}.review.jsonl")
    assert bad == 0
    return {(v.claim, v.author): v for v in found}


def test_open_a_campaign_filter_it_open_a_run_and_follow_a_citation(page: Page, site: str) -> None:
    page.goto(site[: site.index("/c/")])
    page.click(".collections a")
    page.wait_for_url(site)
    page.select_option('select[name="state"]', "answered")
    page.fill("#search", "CUOTA de la zona")
    page.click(".filters button")
    page.wait_for_url(lambda url: "state=answered" in url)
    assert page.locator(".row").count() == 1
    page.click(".question")
    settled(page, ".asked")
    assert page.inner_text("h1") == "¿Cuál es la cuota de la zona norte, y en qué plazo se paga?"
    page.click("#c1 .quote-link")
    focused(page, "#c1q1-1")
    box = page.locator("#c1q1-1").bounding_box()
    assert 0 <= box["y"] <= 800
    assert page.inner_text("#c1 .passage mark:nth-of-type(1)").strip() == "Norte"
    assert "La cuota se actualiza" in page.inner_text("#c1 .passage")
    assert page.locator('#c1 a[href="https://gaceta.example/nota?codigo=1"]').get_attribute("rel").count("noopener")


def test_verdicts_by_keyboard_stay_after_a_reload(page: Page, site: str, campaign: Path) -> None:
    page.goto(f"{site}/r/run-good")
    for key in ("j", "1"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('#c1 output').textContent.includes('Guardado')")
    for key in ("j", "3", "2", "5", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('#c2 output').textContent.includes('Guardado')")
    page.keyboard.press("r")
    page.keyboard.press("t")
    page.keyboard.type("2 de 3: n, p, j y k son letras aquí")
    page.keyboard.press("Escape")
    for key in ("2", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('#run output').textContent.includes('Guardado')")
    said = kept(campaign, "run-good")
    assert said[(0, "ana")].verdict is Mark.CORRECT
    assert (said[(1, "ana")].verdict, said[(1, "ana")].reasons) == (
        Mark.INCORRECT,
        (Why.WRONG_VALUE, Why.UNSUPPORTED),
    )
    assert (said[(None, "ana")].verdict, said[(None, "ana")].note) == (
        Mark.PARTIAL,
        "2 de 3: n, p, j y k son letras aquí",
    )
    page.reload()
    assert page.locator('#c1 input[value="correct"]').is_checked()
    assert page.locator('#c2 input[value="incorrect"]').is_checked()
    assert page.locator('#c2 input[value="unsupported"]').is_checked()
    assert page.locator("#run textarea").input_value().startswith("2 de 3")
    page.goto(f"{site}?verdict=partial")
    assert page.locator(".row .mark").inner_text() == "parcial · ana"


def test_reasons_can_be_left_and_are_asked_for(page: Page, site: str, campaign: Path) -> None:
    page.goto(f"{site}/r/run-evil")
    for key in ("j", "3", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('#c1 output').classList.contains('bad')")
    assert "motivo" in page.inner_text("#c1 output")
    for key in ("3", "4", "Escape"):
        page.keyboard.press(key)
    assert not page.locator("#c1 input[name=verdict]:checked").count()
    assert not (campaign / "traces" / "run-evil.review.jsonl").exists()


def test_every_way_around_by_keyboard(page: Page, site: str) -> None:
    page.goto(f"{site}?text=articulo")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    settled(page, ".asked")
    second = page.url
    page.keyboard.press("n")
    page.wait_for_url(lambda url: url != second)
    page.keyboard.press("p")
    page.wait_for_url(second)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert page.url == second
    page.keyboard.press("u")
    settled(page, ".rows")
    page.keyboard.press("/")
    focused(page, "#search")
    page.goto(f"{site}/r/run-good")
    page.keyboard.press("c")
    focused(page, "#c1q1-1")
    page.keyboard.press("l")
    assert page.locator("#timeline").bounding_box()["y"] < 400


def test_single_keys_can_be_turned_off(page: Page, site: str) -> None:
    page.goto(f"{site}/r/run-good")
    page.click(".prefs summary")
    page.uncheck('input[name="keys"]')
    page.select_option('select[name="theme"]', "dark")
    page.select_option('select[name="lang"]', "en")
    page.click(".prefs button")
    settled(page, 'html[data-theme="dark"]')
    assert page.url == f"{site}/r/run-good"
    assert page.inner_text("#answer-h") == "Answer, claim by claim"
    page.keyboard.press("?")
    assert not page.locator("#help").is_visible()
    page.click("#help-open")
    assert page.locator("#help").is_visible()


def test_without_scripts_it_reads_and_judges(chromium: Any, site: str, campaign: Path) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="es-MX")
    try:
        page = context.new_page()
        page.goto(f"{site}?state=answered")
        page.click(".question:has-text('cuota de la zona')")
        settled(page, "mark#c1q1-1")
        assert page.locator("mark#c1q1-1").is_visible()
        assert not page.locator("#help-open").is_visible()
        page.click(".jump a[href='#timeline']")
        assert page.locator("#timeline .step").count() >= 5
        page.goto(f"{site}/r/run-cut")
        assert "interrumpida" in page.inner_text(".warn >> nth=0")
        assert not page.locator("#run .reasons").is_visible()
        page.check('#run input[value="partial"]')
        page.check('#run input[value="missing_part"]')
        page.click("#run button")
        page.wait_for_url(f"{site}/r/run-cut#run")
        assert page.locator('#run input[value="partial"]').is_checked()
        assert kept(campaign, "run-cut")[(None, "ana")].reasons == (Why.MISSING_PART,)
    finally:
        context.close()


def test_a_hostile_document_shows_as_text(page: Page, site: str) -> None:
    page.goto(f"{site}?text=script")
    assert "<script>window.pwned = 12</script>" in page.inner_text(".question")
    page.click(".question")
    settled(page, ".asked")
    assert page.inner_text("h1").startswith('"><script>')
    shown = page.inner_text("#c1 .passage")
    for text in ("<script>window.pwned = 1</script>", "<img src=x onerror=", "(javascript:window.pwned=3)",
                 "{{ 7 * 7 }}", "</td></table></main><script>"):  # fmt: skip
        assert text in shown, text
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    page.locator("#c1 .passage").hover()
    assert page.evaluate(QUIET)
    assert page.locator("main script, main iframe, main img, main svg, main [onerror]").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert page.locator("script").count() == 1


def test_an_inline_script_would_not_run_if_one_got_in(chromium: Any, site: str) -> None:
    context = chromium.new_context()
    try:
        page = context.new_page()
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.goto(site)
        page.evaluate(BREAK_IN)
        page.wait_for_timeout(100)
        assert page.evaluate(QUIET)
        assert any("Content Security Policy" in text for text in told)
    finally:
        context.close()


def _serious(page: Page) -> list[str]:
    """What axe finds that is serious or critical, by its rules for WCAG A and AA."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [f"{v['id']}: {n['html'][:160]}" for v in found if v["impact"] in ("serious", "critical", "moderate")
            for n in v["nodes"]]  # fmt: skip


def test_axe_finds_nothing_serious(page: Page, site: str) -> None:
    for url in (site[: site.index("/c/")], site, f"{site}/r/run-refused", f"{site}/r/run-evil", f"{site}/agreement"):
        page.goto(url)
        assert _serious(page) == [], url
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto(f"{site}?text=none")
    assert _serious(page) == []
    page.goto(f"{site}/r/run-good")
    page.keyboard.press("j")
    page.keyboard.press("3")
    page.click(".prefs summary")
    assert _serious(page) == []
    page.click("#help-open")
    assert _serious(page) == []


def test_real_runs_scroll_by_keyboard_and_not_sideways(page: Page, tmp_path: Path) -> None:
    """Two questions of the v4 set: passages longer than their boxes, tables wider than a telephone."""
    from click.testing import CliRunner

    from dofrag.cli.main import cli

    lines = (ROOT / "eval" / "v4" / "questions.jsonl").read_text("utf-8").splitlines()
    few = tmp_path / "few.jsonl"
    few.write_text("".join(f"{x}\n" for x in lines if '"SG-NF-006"' in x or '"SG-MD-003"' in x), "utf-8")
    done = CliRunner().invoke(cli, ["eval", "--set", str(few), "--out", str(tmp_path / "v4"), "--quiet"])
    assert done.exit_code == 0, done.output
    runs = [p.stem for p in (tmp_path / "v4" / "traces").glob("*.jsonl")]
    assert len(runs) == 2
    with served(tmp_path / "v4") as (browser, where):
        for run in runs:
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(f"http://{browser.host}{where}/r/{run}")
            assert _serious(page) == [], run
            page.set_viewport_size({"width": 360, "height": 800})
            assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 360, run


@pytest.mark.parametrize("path", ["", "?queue=5", "/r/run-good", "/r/run-evil", "/agreement"])
def test_a_narrow_screen_needs_no_sideways_scrolling(page: Page, site: str, path: str) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(site + path)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 320


def test_the_copy_opens_from_a_disk(page: Page, campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copia"
    collection = Catalog(None, [campaign]).collections()[0]
    count = export(folder, collection, Look(lang="es"), LABELS, [shelf()], cite_as)
    assert count == 52
    page.goto((folder / "index.html").as_uri())
    assert page.evaluate("() => getComputedStyle(document.querySelector('.row')).borderBottomStyle") == "solid"
    assert page.locator(".row").count() == 50
    page.click(".pages a[rel=next]")
    page.click(".question:has-text('script')")
    settled(page, "#c1")
    assert page.evaluate(QUIET)
    page.keyboard.press("u")
    settled(page, ".rows")
    page.click(".pages a[rel=prev]")
    page.click(".question:has-text('cuota de la zona')")
    page.click("#c1 .quote-link")
    focused(page, "#c1q1-1")
    assert page.locator("form.verdict, form.filters, .prefs").count() == 0
    assert _serious(page) == []

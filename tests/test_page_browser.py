"""Pages in a real browser: opened from disk in headless Chromium, by key, slider, phone, paper and without scripts.

Without a Chromium on the machine these tests are skipped, and say so.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tenklog import cli, load
from tenklog.projections import standings

ROOT = Path(__file__).parent.parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # whose processes Chromium's sandbox refuses
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a page of one game, of several, and of a season, whose names are no plain words."""
    folder = tmp_path_factory.mktemp("pages")
    samples = ROOT / "sample_logs"
    evening, awkward = str(samples / "zilch-evening.jsonl"), str(samples / "awkward.jsonl")
    lines = {
        "game": ["page", evening, "--rules", "farkle", "--rules", "ten-thousand"],
        "several": ["page", awkward, str(samples / "score-sheet.jsonl"), "--rules", "zilch"],
        "season": ["page", "--archive"],
    }
    home = ["--quiet", "--home", str(folder / "home")]
    assert cli.run([*home, "archive", evening, awkward, str(samples / "tiotusen-evening.jsonl")]) == 0
    for name, line in lines.items():
        assert cli.run([*home, *line, "-o", str(folder / f"{name}.html")]) == 0
    return {name: folder / f"{name}.html" for name in lines}


class Opened:
    """A page in the browser, and all that it asked for or complained about."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def totals(self) -> list[str]:
        return self.page.locator(".player").first.locator(".total").all_inner_texts()

    def step(self) -> str:
        return self.page.locator(".player").first.locator(".count").inner_text()


@pytest.mark.parametrize("name", ["game", "several", "season"])
def test_a_page_asks_for_nothing_but_itself_and_complains_of_nothing(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    with Opened(browser, pages[name]) as opened:
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            opened.page.keyboard.press(key)
        assert opened.requests == [pages[name].as_uri()]
        assert opened.complaints == []


def test_the_policy_stops_whatever_would_send_or_run_something(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["game"]) as opened:
        sent = opened.page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
        assert sent == "refused"
        opened.page.evaluate(
            "() => { const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
            " document.body.append(one); const two = new Image(); two.src = 'https://example.org/x.png';"
            " document.body.append(two); }"
        )
        opened.page.wait_for_timeout(200)
        assert opened.page.evaluate("window.ran") is None
        assert any("Content Security Policy" in one for one in opened.complaints)


def test_arrow_keys_and_the_slider_play_the_game_through(browser: Browser, pages: dict[str, Path]) -> None:
    log = load(ROOT / "sample_logs/zilch-evening.jsonl")
    by_seat = [str(one.total) for one in sorted(standings(log.game.position), key=lambda one: one.seat)]
    with Opened(browser, pages["game"]) as opened:
        page = opened.page
        last = int(page.locator(".player input").get_attribute("max") or 0) + 1
        assert (opened.totals(), opened.step()) == (["0", "0", "0"], f"step 1 of {last}")
        page.keyboard.press("ArrowRight")  # nothing has the focus
        assert opened.step() == f"step 2 of {last}"
        assert page.locator(".told").inner_text().startswith("Ben throws ")
        assert page.locator(".throw .die").count() == 6
        page.keyboard.press("ArrowRight")
        assert page.locator(".throw .die.kept").count() >= 1
        slider = page.locator(".player input")
        slider.focus()
        page.keyboard.press("ArrowLeft")
        assert opened.step() == f"step 2 of {last}"
        page.keyboard.press("ArrowDown")
        assert "turn 2 of 74" in page.locator(".where").inner_text()
        page.keyboard.press("ArrowUp")
        assert "turn 1 of 74" in page.locator(".where").inner_text()
        page.keyboard.press("End")
        assert (opened.totals(), opened.step()) == (by_seat, f"step {last} of {last}")
        assert "Cara" in (slider.get_attribute("aria-valuetext") or "")
        slider.evaluate("(one) => { one.value = 4; one.dispatchEvent(new Event('input', {bubbles: true})); }")
        assert opened.step() == f"step 5 of {last}"
        page.keyboard.press("Home")
        assert opened.totals() == ["0", "0", "0"]
        page.get_by_role("button", name="Next turn").click()
        page.get_by_role("button", name="Next turn").click()
        assert "turn 2 of 74" in page.locator(".where").inner_text()
        assert page.locator("[data-live]").inner_text().startswith("Round 1")


def test_the_player_plays_by_itself_and_shows_what_a_list_names(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["game"]) as opened:
        page = opened.page
        page.clock.install()
        page.get_by_role("button", name="Play").click()
        page.clock.run_for(3000)
        assert opened.step().startswith("step 3 of ")
        page.get_by_role("button", name="Pause").click()
        page.clock.run_for(3000)
        assert opened.step().startswith("step 3 of ")
        page.get_by_role("button", name="Show event 129").click()
        assert page.locator(".told").inner_text().startswith("Dora keeps 2 2 2 2 2 for 5000")
        assert page.evaluate("document.activeElement.type") == "range"


def test_each_of_several_games_is_played_through_on_its_own(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["several"]) as opened:
        first, second = opened.page.locator(".player").all()
        second.locator("input").focus()
        opened.page.keyboard.press("End")
        assert first.locator(".count").inner_text().startswith("step 1 ")
        assert second.locator(".total").all_inner_texts() == ["3150", "2050", "2400"]
        last = int(second.locator("input").get_attribute("max") or 0)
        # From now on the keys are the second one's, also where nothing has the focus.
        opened.page.evaluate("document.activeElement.blur()")
        opened.page.keyboard.press("ArrowLeft")
        assert first.locator(".count").inner_text().startswith("step 1 ")
        assert second.locator(".count").inner_text() == f"step {last} of {last + 1}"


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("name", ["game", "several", "season"])
def test_the_page_itself_never_scrolls_sideways(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    with Opened(browser, pages[name], viewport={"width": width, "height": 800}) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


# The colours of both schemes are tested in `test_page.py`; axe takes its time, so not every page in both.
@pytest.mark.parametrize(("name", "scheme"), [("game", "light"), ("several", "dark"), ("season", "light")])
def test_axe_finds_nothing_serious(browser: Browser, pages: dict[str, Path], name: str, scheme: str) -> None:
    with Opened(browser, pages[name], color_scheme=scheme, viewport={"width": 390, "height": 800}) as opened:
        for _ in range(3):
            opened.page.keyboard.press("ArrowRight")
        opened.page.evaluate("document.querySelectorAll('.means').forEach((one) => { one.open = true; })")
        found = Axe().run(opened.page).response
        assert [one for one in found["violations"] if one["impact"] in ("serious", "critical")] == []


def test_without_scripts_the_sheet_and_all_turns_are_there(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["game"], java_script_enabled=False) as opened:
        page = opened.page
        assert page.locator(".player").is_hidden()
        assert page.locator(".jump").first.is_hidden()
        assert page.locator("table.sheet").first.is_visible()
        page.locator("details.every summary").click()
        assert page.locator(".turns > li").count() == 74
        assert page.locator(".turns > li").first.is_visible()


def test_paper_gets_no_buttons_and_light_colours(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["game"], color_scheme="dark") as opened:
        page = opened.page
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".player").is_hidden()
        assert page.locator(".chart .wide").first.is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_nothing_moves_for_whoever_wants_no_motion(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["game"], reduced_motion="reduce") as opened:
        moving = opened.page.evaluate(
            "[...document.querySelectorAll('*')].map((one) => getComputedStyle(one).transitionDuration)"
            ".filter((one) => one !== '0s').length"
        )
        assert moving == 0


def test_hostile_names_are_text_in_the_browser(browser: Browser, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["several"]) as opened:
        names = opened.page.locator(".player").first.locator(".totals .name").all_inner_texts()
        assert {"007", '=HYPERLINK("x")', "'; DROP TABLE games; --", "<b>Eve</b>"} <= {*names}
        assert opened.page.locator(".totals b, .who b").count() == 0

"""The lesson and the generators page as a class uses them, in a real Chromium."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from elimipl_app.lesson.case import FIRST, REAL, make_case
from elimipl_app.lesson.plan import load_lesson

pytestmark = pytest.mark.browser
STEPS = load_lesson().steps
PHONE = {"width": 390, "height": 844}
TOUCHING = """() => {
  const touch = (a, b) => Math.min(a.right, b.right) > Math.max(a.left, b.left)
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const figures = [document, ...[...document.querySelectorAll("*")].map(one => one.shadowRoot).filter(Boolean)]
    .flatMap(root => [...root.querySelectorAll(".js-plotly-plot, .moving")]);
  return figures.flatMap(figure => {
    const boxes = [...figure.querySelectorAll("text:not(.star), .moving circle")]
      .filter(one => one.getBoundingClientRect().width);
    const texts = boxes.filter(one => one.tagName === "text");
    return texts.flatMap((text, i) => [...texts.slice(i + 1), ...boxes.filter(one => one.tagName === "circle")]
      .filter(other => touch(text.getBoundingClientRect(), other.getBoundingClientRect()))
      .map(other => `${text.textContent} | ${other.textContent}`));
  });
}"""
"""Texts of figures that touch each other, or a dot of a moving figure."""


def settled(page: Page) -> None:
    """Wait until the script has run to its end, so that nothing on the page is stale."""
    page.wait_for_timeout(250)  # the run that an action causes starts a moment after it
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)


def on_step(page: Page, number: int) -> None:
    expect(page.get_by_role("heading", name=f"{number} · {STEPS[number - 1].title}")).to_be_visible(timeout=60_000)
    settled(page)


def pill(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True).or_(
        page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True)
    ).first.click()
    settled(page)


def drawn(page: Page) -> str:
    """What the moving figure shows now."""
    return page.locator(".moving .panels").first.inner_html()


def drag(page: Page, label: str, messages: list[str]) -> None:
    """Drag a slider to its end: the figure changes on the way, and nothing is sent until it is let go."""
    slider = page.get_by_role("slider", name=label)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    seen = {drawn(page)}
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    messages.clear()
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        page.mouse.move(box["x"] + 8 + share * (box["width"] - 10), middle, steps=3)
        page.wait_for_timeout(120)
        seen.add(drawn(page))
    assert len(seen) >= 5, "the figure moves while the slider is dragged"
    assert messages == [], "nothing is sent during the drag"
    page.mouse.up()
    page.wait_for_timeout(600)
    settled(page)
    assert len(messages) >= 1, "where the slider was let go is sent"


def test_figures_move_without_messages_and_the_lesson_is_found_as_it_was_left(page: Page, app_address: str) -> None:
    messages: list[str] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda payload: messages.append(str(payload)[:40]))

    page.on("websocket", listen)
    page.goto(app_address)
    page.get_by_role("link", name="Lesson", exact=True).click(timeout=60_000)

    on_step(page, 1)
    carrying = int(make_case(REAL, FIRST).truth.argmax())
    row, column = divmod(carrying, 6)
    answer = page.get_by_text(f"Instance {carrying} carries the class")
    click_plot(page, 0, (row + 0.5) / 6, answer, (column + 0.5) / 6)
    pill(page, STEPS[0].ask.options[1])
    page.get_by_role("button", name="Reveal", exact=True).click()
    expect(page.get_by_text("Not so: At least one")).to_be_visible(timeout=30_000)
    expect(page.get_by_test_id("stAlert").first).to_contain_text("Done:", timeout=30_000)

    for number, slider in ((5, "Epoch"), (6, "Temperature"), (7, "γ, weight"), (8, "Steps of gradient"), (9, "Epoch")):
        page.get_by_role("button", name=re.compile(f"{number} {re.escape(STEPS[number - 1].title)}")).click()
        on_step(page, number)
        if number == 7:
            pill(page, "Sum")
        drag(page, slider, messages)
    expect(page.get_by_text("ρ = 0.00")).to_be_visible(timeout=30_000)

    before = drawn(page)
    messages.clear()
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(700)
    assert drawn(page) != before, "Play moves the figure"
    assert messages == []
    page.get_by_role("button", name="Pause").click()
    settled(page)
    page.wait_for_timeout(600)
    settled(page)
    left, address = drawn(page), page.url
    assert "epoch=" in address

    page.get_by_role("link", name="Doctor", exact=True).click()
    expect(page.get_by_role("heading", name="Doctor")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Lesson", exact=True).click()
    on_step(page, 9)
    expect(page).to_have_url(address, timeout=30_000)
    assert drawn(page) == left

    page.set_viewport_size(PHONE)
    settled(page)
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0, "nothing reaches beyond a phone's screen"


def click_plot(page: Page, number: int, height: float, answer: Locator, across: float = 0.5) -> None:
    """Click in a figure, at a share of its width and height, until `answer` appears.

    Retried, since a figure that was just drawn takes a moment to listen.
    """
    plot = page.locator(".js-plotly-plot .nsewdrag").nth(number)
    expect(plot).to_be_visible(timeout=30_000)
    for _ in range(5):
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * (across - 0.02), box["y"] + box["height"] * height - 4)
        page.mouse.move(box["x"] + box["width"] * (across + 0.02), box["y"] + box["height"] * height)
        page.mouse.down()
        page.mouse.up()
        page.wait_for_timeout(2_000)
        if answer.is_visible():
            return
    expect(answer).to_be_visible()


def test_a_class_link_in_a_fresh_browser_shows_the_step_alone(browser: Browser, app_address: str) -> None:
    # Not the fixture's page: Streamlit looks for its server below a page's own address first, which is an error (404)
    # in the console.
    page = browser.new_context(viewport={"width": 1400, "height": 1000}, color_scheme="dark").new_page()
    page.goto(f"{app_address}/lesson?step=sparsity&steps_down=80&from=close&class=1")
    on_step(page, 8)
    expect(page.get_by_text("it can't prefer one")).to_be_visible()
    expect(page.get_by_role("button", name="Next", exact=True)).to_have_count(0)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("link", name="Explore", exact=True)).to_have_count(0)
    page.context.close()


def test_no_texts_of_figures_touch_on_a_phone(browser: Browser, app_address: str) -> None:
    page = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True).new_page()
    for number, more in ((4, ""), (5, ""), (6, ""), (8, ""), (10, "&shown=true&r_birdsong=10")):
        page.goto(f"{app_address}/lesson?step={STEPS[number - 1].id}{more}")
        on_step(page, number)
        if number == 5:
            pill(page, STEPS[4].ask.options[0])
            page.get_by_role("button", name="Reveal", exact=True).click()
            expect(page.get_by_text("All held-out bags, every cut")).to_be_visible(timeout=30_000)
        if number == 6:  # its name lies over the bars
            halo = page.locator(".moving text.note").first.evaluate("text => getComputedStyle(text).paintOrder")
            assert halo.startswith("stroke")
        if number == 10:  # where the curves begin, high above chance, and not where they come down to it
            chance = page.locator(".moving text.note").last.bounding_box()
            assert chance is not None
            assert chance["x"] + chance["width"] < PHONE["width"] / 2
        figures = page.locator(".js-plotly-plot .ytick text, .js-plotly-plot .heatmaplayer image, .moving svg")
        expect(figures.last).to_be_visible(timeout=30_000)
        page.wait_for_timeout(500)  # a figure settles its margins after it is drawn
        assert page.evaluate(TOUCHING) == [], STEPS[number - 1].title
    page.context.close()


def test_a_place_is_followed_through_all_generators(page: Page, app_address: str) -> None:
    page.goto(app_address)
    page.get_by_role("link", name="Bag generators", exact=True).click(timeout=60_000)
    expect(page.get_by_text("How the numbers came about: SBN")).to_be_visible(timeout=60_000)
    pill(page, "SIFT")
    expect(page.get_by_text("How the numbers came about: SIFT")).to_be_visible(timeout=30_000)
    pill(page, "12")
    expect(page.get_by_text("How the numbers came about: SIFT, instance 12")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("SBN, instance 4")).to_be_visible()
    assert "instance=12" in page.url
    row_map = 0
    click_plot(page, row_map, 0.95, page.get_by_text("How the numbers came about: Row, instance 7"))
    expect(page.get_by_text("SBN does not look at this place")).to_be_visible()

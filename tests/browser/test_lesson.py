"""The lesson and the generators page as a class uses them, in a real Chromium."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ui.lesson.case import make_case
from ui.lesson.plan import load_lesson

pytestmark = pytest.mark.browser
STEPS = load_lesson()


def open_page(page: Page, app_address: str, name: str) -> None:
    """By the navigation, as a person comes."""
    page.goto(app_address)
    page.get_by_role("link", name=name, exact=True).click(timeout=60_000)


def settled(page: Page) -> None:
    """Wait until the script has run to its end, so that nothing on the page is stale."""
    page.wait_for_timeout(250)  # the run that an action causes starts a moment after it
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)


def on_step(page: Page, number: int) -> None:
    expect(page.get_by_role("heading", name=f"{number} · {STEPS[number - 1].title}")).to_be_visible(timeout=60_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=30_000)
    settled(page)


def done(page: Page, number: int) -> None:
    expect(page.get_by_test_id("stAlert").first).to_contain_text("Done:", timeout=30_000)
    named = "%2C".join(step.id for step in STEPS[:number])
    expect(page).to_have_url(re.compile(f"[?&]done={named}(&|$)"), timeout=30_000)


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Next", exact=True).click()


def switch(page: Page, label: str) -> None:
    page.get_by_test_id("stCheckbox").filter(has_text=label).locator("label").click()
    settled(page)


def to_end(page: Page, label: str) -> None:
    """Move a slider to its end with the keyboard."""
    slider = page.get_by_role("slider", name=label)
    slider.focus()
    slider.press("End")
    settled(page)


def pill(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True).or_(
        page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True)
    ).first.click()
    settled(page)


def test_the_whole_lesson(page: Page, app_address: str) -> None:
    carrying = int(make_case("TUM", 1, "row").truth.argmax())
    open_page(page, app_address, "Lesson")

    on_step(page, 1)
    click_plot(page, 0, carrying / 8 + 1 / 16, page.get_by_text(f"Instance {carrying} carries the class"))
    done(page, 1)
    go_on(page)

    on_step(page, 2)
    switch(page, "Hide the instance labels")
    pill(page, str(carrying))
    switch(page, "Check myself")
    done(page, 2)
    expect(page.get_by_text("You found")).to_be_visible()
    go_on(page)

    on_step(page, 3)
    to_end(page, "False positive labels r")
    switch(page, "Hide which candidate is true")
    done(page, 3)
    go_on(page)

    on_step(page, 4)
    for rows in (2, 3):
        page.get_by_role("button", name="Keep this row and take another picture").click()
        expect(page.get_by_text(f"{rows} × 7 = {7 * rows} cells")).to_be_visible(timeout=30_000)
    switch(page, "See it as a learning machine does")
    done(page, 4)
    go_on(page)

    on_step(page, 5)
    to_end(page, "Epoch")
    expect(page.get_by_text("digit bags of")).to_be_visible()
    pill(page, "Your picture")
    expect(page.get_by_text("held-out phantoms")).to_be_visible(timeout=30_000)
    to_end(page, "Epoch")
    done(page, 5)
    go_on(page)

    on_step(page, 6)
    for loss in ("Sparsity", "Inhibition", "Sum"):
        pill(page, loss)
    to_end(page, "μ, weight of the sparsity loss")
    to_end(page, "γ, weight of the inhibition loss")
    done(page, 6)
    go_on(page)

    on_step(page, 7)
    to_end(page, "Steps of gradient descent")
    expect(page.get_by_text("it can't prefer one")).to_be_visible(timeout=30_000)
    pill(page, "two nearly level")
    switch(page, "Let inhibition help")
    done(page, 7)
    go_on(page)

    on_step(page, 8)
    to_end(page, "Epoch")
    expect(page.get_by_text("ρ = 0.00")).to_be_visible(timeout=30_000)
    pill(page, "a 2 (bag 60)")
    done(page, 8)
    go_on(page)

    on_step(page, 9)
    switch(page, "Show what happened")
    done(page, 9)
    expect(page.get_by_text("You have done every step")).to_be_visible()


def click_plot(page: Page, number: int, height: float, answer: Locator) -> None:
    """Click in a figure, in the middle at a share of its height, until `answer` appears.

    Retried, since a figure that was just drawn takes a moment to listen.
    """
    plot = page.locator(".js-plotly-plot .nsewdrag").nth(number)
    expect(plot).to_be_visible(timeout=30_000)
    for _ in range(5):
        box = plot.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.48, box["y"] + box["height"] * height - 4)
        page.mouse.move(box["x"] + box["width"] * 0.52, box["y"] + box["height"] * height)
        page.mouse.down()
        page.mouse.up()
        page.wait_for_timeout(2_000)
        if answer.is_visible():
            return
    expect(answer).to_be_visible()


def test_a_link_opens_a_step_as_it_was_left(browser: Browser, app_address: str) -> None:
    # Not the fixture's page: Streamlit looks for its server below a page's own address first, which is an error (404)
    # in the console.
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.goto(f"{app_address}/lesson?step=sparsity&steps_down=80&from=two+nearly+level&hide=steps,task&done=picture")
    on_step(page, 7)
    expect(page.get_by_text("it can't prefer one")).to_be_visible()
    expect(page.get_by_role("button", name="Next", exact=True)).to_have_count(0)
    expect(page.get_by_text("Do this")).to_have_count(0)
    page.context.close()


def test_a_place_is_followed_through_all_generators(page: Page, app_address: str) -> None:
    open_page(page, app_address, "Bag generators")
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

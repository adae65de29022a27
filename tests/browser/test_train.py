"""Train, Compare and Results in a real Chromium: trainings started, watched and stopped; choices in the address."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
SLOW = 90_000  # ms; a busy machine draws slowly


def open_train(page: Page, address: str) -> None:
    """Come from the front page: Streamlit's own files are looked up beside a deep link first, and not found there."""
    page.goto(address)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Train").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Before the first epoch")).to_be_visible(timeout=SLOW)


def set_number(page: Page, label: str, value: str) -> None:
    field = page.get_by_role("spinbutton", name=label, exact=True)
    field.fill(value)
    field.press("Enter")
    expect(page).to_have_url(re.compile(rf"={value}(&|$)"), timeout=SLOW)


def test_a_training_is_started_watched_and_stopped(page: Page, app_address: str) -> None:
    open_train(page, app_address)
    set_number(page, "Epochs T", "1000")
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_text(re.compile(r"epoch ([2-9]|\d\d+) of 1000"))).to_be_visible(timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(3, timeout=SLOW)
    page.get_by_role("button", name="Stop training").click()
    ended = page.get_by_text(re.compile(r"Stopped after epoch \d+, [\d.]+ s after you asked"))
    expect(ended).to_be_visible(timeout=SLOW)
    epoch, seconds = re.search(r"epoch (\d+), ([\d.]+) s", ended.inner_text()).groups()
    assert int(epoch) < 1000
    assert float(seconds) < 2
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    page.reload()
    expect(page.get_by_text(f"Stopped after epoch {epoch}, {seconds} s after you asked")).to_be_visible(timeout=SLOW)


def test_two_visitors_train_at_once_and_one_takes_the_model_to_explore(page: Page, browser, app_address: str) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    other = context.new_page()
    for visitor, seed in ((page, "1"), (other, "2")):
        open_train(visitor, app_address)
        set_number(visitor, "Epochs T", "30")
        set_number(visitor, "Seed", seed)
    for visitor in (page, other):
        visitor.get_by_role("button", name="Start training").click()
    losses = []
    for visitor in (page, other):
        expect(visitor.get_by_text("Done: 30 epochs")).to_be_visible(timeout=SLOW)
        losses.append(visitor.get_by_test_id("stMetric").nth(1).inner_text())
    assert losses[0] != losses[1]
    context.close()
    page.get_by_role("button", name="Use it on the Explore page").click()
    expect(page.get_by_role("heading", name="Explore", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("combobox", name="Which one")).to_have_value(
        "mine-1-phantoms-sbn-elimipl: ELIMIPL on drawn phantoms, SBN", timeout=SLOW
    )


def test_two_methods_side_by_side_and_one_trained_here(page: Page, app_address: str) -> None:
    page.goto(f"{app_address}/compare?compare_data=phantoms-kmeansseg")
    expect(page.get_by_role("heading", name="Compare models", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("heading", name="DEMIPL", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(10, timeout=SLOW)
    expect(page.get_by_text(re.compile("Figure 2 holds from epoch")).first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"\d+ · \w+\. DEMIPL: true label"))).to_have_count(14)
    page.get_by_role("slider", name=re.compile("After epoch")).press("Home")
    expect(page).to_have_url(re.compile("compare_epoch=0"), timeout=SLOW)
    page.get_by_role("button", name="Train it here").click()
    expect(page.get_by_text(re.compile(r"epoch ([2-9]|\d\d+) of 60"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Stop training").click()
    expect(page.get_by_text(re.compile(r"(stopped after epoch \d+|done)\."))).to_be_visible(timeout=SLOW)


def test_figures_choices_in_the_address_and_claims(page: Page, app_address: str) -> None:
    page.goto(app_address)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Results").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Results", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(6, timeout=SLOW)
    page.get_by_test_id("stSidebar").get_by_role("radio", name="3", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("Accuracy on .*, r = 3"))).to_be_visible(timeout=SLOW)
    expect(page).to_have_url(re.compile("results_r_table2=3"), timeout=SLOW)
    page.get_by_text(re.compile("^ELIMIPL is more accurate than DEMIPL")).click()
    expect(page.get_by_text(re.compile("ELIMIPL − DEMIPL, r = 1")).first).to_be_visible(timeout=SLOW)
    page.reload()
    expect(page.get_by_role("heading", name=re.compile("Accuracy on .*, r = 3"))).to_be_visible(timeout=SLOW)

"""A class in a real Chromium: the teacher's screen, a phone, votes that appear by themselves, a reload."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from elimipl.classroom.store.database import VARIABLE
from tests.support.running_app import running_app

pytestmark = pytest.mark.browser
SLOW = 90_000  # ms; a busy machine draws slowly


def choose(page: Page, group: int, name: str) -> None:
    """A label of the first (most likely) or second (possible) row of pills."""
    page.get_by_test_id("stButtonGroup").nth(group).get_by_text(name, exact=True).click()


def test_a_teacher_invites_a_phone_votes_and_the_votes_appear_and_last(browser: Browser, tmp_path: Path) -> None:
    environment = {VARIABLE: str(tmp_path / "classes.sqlite3")}
    teacher = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light").new_page()
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True, is_mobile=True
    ).new_page()
    with running_app(environment=environment) as (address, _):
        teacher.goto(f"{address}/class")
        teacher.get_by_role("spinbutton", name="Drawings of each tissue").fill("1", timeout=SLOW)
        teacher.get_by_role("button", name="Open the class").click()
        expect(teacher.get_by_role("img", name="QR code of")).to_be_visible(timeout=SLOW)
        link = teacher.get_by_text("class?join=").first.inner_text().strip()

        phone.goto(link)
        expect(phone.get_by_text("Picture 1 of 7")).to_be_visible(timeout=SLOW)
        expect(phone.get_by_role("link", name="Explore")).to_have_count(0)
        choose(phone, 0, "Mucus (MUC)")
        choose(phone, 1, "DEB")
        send = phone.get_by_role("button", name="Send")
        expect(send).to_be_in_viewport()
        send.click()
        expect(phone.get_by_text("Picture 2 of 7")).to_be_visible(timeout=SLOW)
        expect(teacher.get_by_test_id("stMetric").nth(1)).to_contain_text("1", timeout=SLOW)  # without a click
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        phone.reload()
        expect(phone.get_by_text("Picture 2 of 7")).to_be_visible(timeout=SLOW)
        choose(phone, 0, "Lymphocytes (LYM)")
        phone.get_by_role("button", name="Send").click()
        expect(phone.get_by_text("Picture 3 of 7")).to_be_visible(timeout=SLOW)
        teacher.reload()
        expect(teacher.get_by_test_id("stMetric").nth(1)).to_contain_text("2", timeout=SLOW)
        teacher.get_by_role("button", name="End voting and open the votes").click()
        expect(teacher.get_by_text("From votes to candidate sets")).to_be_visible(timeout=SLOW)
        expect(phone.get_by_text("What the class said")).to_be_visible(timeout=SLOW)  # by itself
        expect(phone.get_by_text(re.compile("Candidate set"))).to_contain_text("DEB, MUC")
    teacher.context.close()
    phone.context.close()

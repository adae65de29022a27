"""The Doctor page: the findings of the command, on a sound machine and on a broken one."""

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from elimipl import doctor
from elimipl.cards import files as model_file
from elimipl.doctor import FAIL, PASS, WARN, Check
from elimipl_app import doctor as page_parts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def examined_anew():
    page_parts.findings.clear()
    yield
    page_parts.findings.clear()


def opened() -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/doctor.py").run()
    assert not page.exception
    return page


def told(page: AppTest) -> str:
    return "\n".join(item.value for item in (*page.error, *page.warning, *page.success, *page.markdown))


def test_the_page_says_what_the_command_says():
    text = told(opened()).replace("\\", "")
    for check in doctor.examine():
        if "GB free" not in check.what:
            assert check.what in text


def test_every_finding_comes_with_its_way_to_mend_it(monkeypatch):
    found = [Check(PASS, "Fine."), Check(WARN, "It is *odd*.", "Look at it."), Check(FAIL, "It is broken.", "Mend it.")]
    monkeypatch.setattr(page_parts, "examine", lambda: iter(found))
    page = opened()
    assert [item.value for item in page.error] == ["**It is broken.** Mend it."]
    assert [item.value for item in page.warning] == ["**It is \\*odd\\*.** Look at it."]
    assert not page.success


def test_all_well_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr(page_parts, "examine", lambda: iter([Check(PASS, "Fine.")]))
    assert [item.value for item in opened().success] == [page_parts.WELL]


def test_a_broken_model_is_named_and_looked_at_again_on_request(tmp_path, monkeypatch):
    for name in ("tissue7-row-elimipl.json", "tissue7-row-elimipl.safetensors"):
        (tmp_path / name).write_bytes((model_file.SHIPPED / name).read_bytes())
    whole = (tmp_path / "tissue7-row-elimipl.safetensors").read_bytes()
    (tmp_path / "tissue7-row-elimipl.safetensors").write_bytes(whole[:1000])
    monkeypatch.setattr(model_file, "SHIPPED", tmp_path)
    page = opened()
    assert any("tissue7-row-elimipl.safetensors” is cut short" in item.value.replace("\\", "") for item in page.error)
    (tmp_path / "tissue7-row-elimipl.safetensors").write_bytes(whole)
    page.button(key="again").click().run()
    assert "1 of 1 models are whole" in told(page)


def test_where_the_app_lies_is_no_business_of_visitors():
    text = told(opened()).replace("\\", "")
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
    assert "GB free in the app's folder." in text or "GB free in the working folder." in text


@pytest.mark.parametrize("missing", ["torch", "cv2"])
def test_the_page_opens_where_the_others_cannot(missing):
    program = f"""
import sys
for name in [name for name in sys.modules if name.partition(".")[0] == {missing!r}]:
    del sys.modules[name]
from streamlit.testing.v1 import AppTest
sys.modules[{missing!r}] = None
page = AppTest.from_file("pages/doctor.py", default_timeout=60).run()
assert not page.exception, page.exception
print(*(item.value for item in page.error), sep="\\n")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert page_parts.BROKEN_FRAME in ended.stdout
    assert "can't be" in ended.stdout

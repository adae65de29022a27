"""The Class page without a browser: open, join, vote, open the votes, delete; roles stay apart."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators import InputError
from elimipl import jobs
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.database import VARIABLE
from elimipl.jobs import Queue
from elimipl_app.classroom import training, worker
from tests.elimipl_app.classroom.a_class import HERE, OUTCOME, TEACHER, opened
from tests.elimipl_app.figure_json import drawn_chart

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "classes.sqlite3"))
    return tmp_path / "classes.sqlite3"


def visit(browser: str, join: str = "") -> AppTest:
    """The page in a browser that has been here before, or not."""
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/class.py")
    page.session_state["visitor"] = browser
    if join:
        page.query_params["join"] = join
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    shown = (*page.markdown, *page.success, *page.error, *page.warning, *page.info, *page.caption, *page.subheader)
    return " ".join(item.value for item in shown)


def answer(page: AppTest, session: int, picture: int, top: int, also: tuple[int, ...] = ()) -> AppTest:
    page.button_group(key=f"class_top_{session}_{picture}").set_value(top)
    page.button_group(key=f"class_also_{session}_{picture}").set_value(list(also))
    next(button for button in page.button if button.label == "Send").click().run()
    assert not page.exception
    return page


def test_a_teacher_opens_a_class_and_a_student_comes_in_by_its_code(path):
    teacher = visit(TEACHER)
    assert "Open a class" in said(teacher)
    teacher.number_input(key="class_drawn").set_value(1)
    teacher.button(key="class_open").click().run()
    assert not teacher.exception
    session = ClassStore(path).session_of(TEACHER)
    assert session is not None
    assert sorted(session.truths()) == list(range(7))
    assert f"{session.code[:4]}-{session.code[4:]}" in said(teacher)
    assert f"/class?join={session.link_key}" in teacher.code[0].value

    student = visit("a phone")
    student.text_input(key="class_code").set_value("WRONG-CODE")
    student.button[0].click().run()
    assert "No class has this code" in student.error[0].value
    student.text_input(key="class_code").set_value(session.code.lower())
    student.button[0].click().run()
    assert "Picture 1 of 7" in said(student)
    assert student.query_params["join"] == session.link_key
    assert not any(name.name in said(student) for name in session.pictures)


def test_votes_come_in_live_stay_hidden_until_opened_and_end_with_the_class(path):
    store, session, _ = opened(path, pictures=2)
    teacher, student = visit(TEACHER), visit("a phone", session.link_key)
    assert not student.sidebar.toggle
    answer(student, session.id, 1, top=2, also=(0,))
    assert "Picture 2 of 2" in said(student)
    (ballot,) = store.votes(session.id, TEACHER)
    assert (ballot.named, ballot.top) == ((0, 2), 2)

    teacher.run()
    assert [metric.value for metric in teacher.metric] == ["1", "1", "0 / 1"]
    assert drawn_chart(teacher, "class-answers")["data"][0]["y"] == [1, 0]
    teacher.toggle(key="class_show_votes").set_value(True).run()
    named, first = drawn_chart(teacher, "class-votes-teacher")["data"]
    assert named["x"] == [1, 0, 1, 0, 0, 0, 0]
    assert first["x"] == [0, 0, 1, 0, 0, 0, 0]
    assert "true label" not in said(teacher)

    back = visit("a phone", session.link_key)  # a reload
    assert "Picture 2 of 2" in said(back)
    next(button for button in back.button if button.label == "Send").click().run()
    assert "Choose what it is most likely" in said(back)
    answer(back, session.id, 2, top=1)
    assert "You have answered every picture" in said(back)

    teacher.button(key="class-gate").click().run()
    back.run()
    assert "What the class said" in said(back)
    assert "S = {DEB, MUC}" in said(back)
    assert "true label" not in said(back)
    assert not any("✓" in name for name in drawn_chart(back, "class-votes-student")["layout"]["yaxis"]["ticktext"])
    teacher.button(key="class-reveal").click().run()
    back.run()
    assert "true label **DEB**" in said(back)

    teacher.button(key="class-delete").click().run()
    assert "The class was deleted" in said(teacher)
    back.run()
    assert not back.exception
    assert "This link leads to no class" in back.error[0].value


def test_the_teacher_closes_the_door_and_removes_seats_and_another_tab_does_not_open_it_again(path):
    store, session, _ = opened(path, pictures=2)
    for student in ("ann", "eve", "idle"):
        store.join(session.link_key, student, HERE)
    store.vote(session.id, "ann", 1, [0], 0)
    store.vote(session.id, "eve", 1, [1], 1)
    teacher, other_tab = visit(TEACHER), visit(TEACHER)
    teacher.button(key="class-remove-idle").click().run()
    assert store.seats(session.id, TEACHER) == {1: 1, 2: 1}
    assert teacher.toggle(key=f"class_joining_{session.id}").value is False
    teacher.multiselect(key="class_seats").set_value([2]).run()
    teacher.button(key="class-remove").click().run()
    assert not teacher.exception
    assert store.seats(session.id, TEACHER) == {1: 1}
    other_tab.run()
    assert store.session_of(TEACHER).joining is False
    assert "lets nobody else join" in said(visit("a phone", session.link_key))
    other_tab.toggle(key=f"class_joining_{session.id}").set_value(True).run()
    assert "Picture 1 of 2" in said(visit("a phone", session.link_key))


def test_the_browser_of_a_student_never_gets_the_teachers_screen(path):
    _, session, key = opened(path)
    visit("a phone", session.link_key)
    stranger = visit("a phone")
    assert not [button for button in stranger.button if button.key in ("class-gate", "class-delete")]
    stranger.text_input(key="class_key").set_value(session.link_key)
    stranger.button(key="class_back").click().run()
    assert "No class has this key" in stranger.error[0].value
    stranger.text_input(key="class_key").set_value(key)
    stranger.button(key="class_back").click().run()
    assert stranger.button(key="class-gate")


@pytest.mark.parametrize("join", ["<script>alert(1)</script>", "Ω\u202e\x00", "x" * 5000, "nan"])
def test_a_link_to_no_class_gets_a_sentence(path, join):
    page = visit("a phone", join)
    assert "leads to no class" in page.error[0].value or "No class has this code" in page.error[0].value


def test_labels_of_the_teachers_own_are_text_and_a_file_says_its_truth(path, tmp_path):
    teacher = visit(TEACHER)
    teacher.button_group(key="class_labels").set_value("own").run()
    teacher.text_area(key="class_own").set_value("one\ntwo").run()
    teacher.button(key="class_open").click().run()
    assert "only 2 labels" in teacher.error[0].value
    teacher.text_area(key="class_own").set_value("<b>one</b>\n[two](http://example.org)\n:skull:").run()
    teacher.button(key="class_open").click().run()
    assert "can't label 0 pictures" in teacher.error[0].value
    assert ClassStore(path).session_of(TEACHER) is None


def test_opened_votes_become_sets_figures_models_and_files(path, monkeypatch):
    store, session, _ = opened(path, pictures=5)
    for student in ("ann", "bob", "cid"):
        store.join(session.link_key, student, HERE)
        for picture in range(1, 6):
            top = 6 if picture == 5 else picture - 1  # the last one is taken for another tissue
            store.vote(session.id, student, picture, sorted({top, 1}), top)
    store.open_votes(session.id, TEACHER, True)
    teacher = visit(TEACHER)
    assert len(drawn_chart(teacher, "class-figure1")["data"][0]["text"]) == 5
    for screen in (teacher, visit("ann", session.link_key)):
        assert not any(word in said(screen) for word in ("true label **", "missing", "of the answers to"))
    assert not teacher.dataframe[0].value["true label"].any()
    teacher.button(key="class-reveal").click().run()
    assert "missing from the set of picture 5" in said(teacher)
    assert len(drawn_chart(teacher, "class-figure1")["data"][0]["text"]) == 4
    assert "of the answers to DEB find **LYM** possible" in said(teacher)
    assert teacher.dataframe[0].value["others said"].tolist() == [""] * 5
    assert teacher.metric[3].value == "1.00"

    monkeypatch.setattr(worker, "learn", lambda task, tell: OUTCOME)
    monkeypatch.setattr(jobs, "SERVER", Queue())
    teacher.button(key="class-train").click().run()
    worker.latest(session).join(60)
    teacher.run()
    assert not teacher.exception
    assert drawn_chart(teacher, "class-cost-held_out")["data"][0]["x"] == [0.5]
    student = visit("ann", session.link_key)
    assert drawn_chart(student, "class-cost-held_out")["data"][0]["x"] == [0.5]
    assert "(right)" in said(student)
    teacher.button(key="class-reveal").click().run()
    for screen in (teacher, student.run()):
        assert not any(word in said(screen) for word in ("(right)", "true label **", "missing"))
    assert {button.key for button in teacher.get("download_button")} >= {"class-csv", "class-json", "class-bags"}


def test_a_training_that_a_restart_cut_off_begins_again_when_the_teacher_is_back(path, monkeypatch):
    store, session, _ = opened(path, pictures=4)
    store.join(session.link_key, "ann", HERE)
    for picture in range(4):
        store.vote(session.id, "ann", picture + 1, [picture], picture)
    store.open_votes(session.id, TEACHER, True)
    trained_with = []

    def learn(task, tell):
        trained_with.append(task.generator)
        return OUTCOME

    monkeypatch.setattr(worker, "learn", learn)
    monkeypatch.setattr(jobs, "SERVER", Queue())  # as in a server that has just started
    store.begin_training(session.id, TEACHER, "row", 1)
    teacher = visit(TEACHER)
    worker.latest(session).join(60)
    teacher.run()
    assert not teacher.exception
    assert "begun again from the start" in said(teacher)
    assert trained_with == ["row"]
    assert drawn_chart(teacher, "class-cost-held_out")["data"][0]["x"] == [0.5]

    monkeypatch.setattr(jobs, "SERVER", Queue())
    assert "begun again" not in said(visit(TEACHER))
    store.begin_training(session.id, TEACHER, "row", training.MOST_TRIES)
    assert "It is not begun again by itself" in said(visit(TEACHER))
    assert trained_with == ["row"]


def test_a_full_disk_is_said_to_student_and_teacher_and_the_page_goes_on(path, monkeypatch):
    store, session, _ = opened(path, pictures=1)
    student, teacher = visit("a phone", session.link_key), visit(TEACHER)

    def full(*_facts):
        raise InputError("Your vote could not be kept: the server's disk is full.", "Tell the teacher.")

    monkeypatch.setattr(ClassStore, "vote", full)
    monkeypatch.setattr(ClassStore, "open_votes", full)
    answer(student, session.id, 1, top=0)
    assert "disk is full" in student.error[0].value
    teacher.button(key="class-gate").click().run()
    assert not teacher.exception
    assert "disk is full" in teacher.error[0].value
    monkeypatch.undo()
    monkeypatch.setenv(VARIABLE, str(path))
    answer(student, session.id, 1, top=0)
    assert len(store.votes(session.id, TEACHER)) == 1

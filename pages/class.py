"""Class: students label pictures on their phones, and models learn from their doubt."""

from bag_generators import InputError
from elimipl_app.classroom import texts
from elimipl_app.classroom.doors import find_role, show_start
from elimipl_app.classroom.student import show_student
from elimipl_app.classroom.teacher import show_teacher
from elimipl_app.shell.page import show_error, start_page

start_page(texts.TITLE)
try:
    role = find_role()
    if role.joins:
        show_student(role.joins)
    elif role.teaches is not None:
        show_teacher(role.teaches)
    else:
        show_start()
except InputError as error:
    show_error(error)

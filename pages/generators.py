"""Bag generators: one picture through all of them, side by side and linked."""

import streamlit as st

from bag_generators import GENERATORS
from elimipl_app.generators.page import (
    all_bags,
    choose_instance,
    choose_unit,
    intro,
    read_by,
    show_maps,
    show_same_place,
    show_steps,
)
from elimipl_app.inputs.gallery import show_waiting
from elimipl_app.inputs.picture import choose_picture
from elimipl_app.shell.page import show_error, show_notes, start_page

start_page("Bag generators", compact=True)
with st.sidebar:
    picture = choose_picture()
show_waiting()
if picture is None:
    st.stop()
show_notes(picture.image.notes)
bags, refusals = all_bags(picture.image, picture.is_drawn)
st.markdown(intro(len(bags)))
st.caption(read_by([described.prediction.label_space.id for described in bags.values() if described.prediction]))
for problem in (*GENERATORS.problems, *refusals):
    show_error(problem)
if not bags:
    st.stop()

controls = st.container(horizontal=True, gap="large", vertical_alignment="bottom")
with controls:
    unit = choose_unit()
maps = st.container()
generator, instance = choose_instance(bags)
with maps:
    show_maps(picture.image, bags, generator, instance, unit)
show_same_place(picture.image, bags, generator, instance)
show_steps(picture.image, bags[generator], instance)

"""Maps of a slide: started with a button, made in the background, listed when they are there."""

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from bag_generators import InputError
from bag_generators.scale import ScaleDecision
from bag_generators.slide import Slide, at_decided_scale
from elimipl import jobs
from elimipl.answers.predictor import Predictor
from elimipl.jobs import FAILED, RUNNING, STOPPED, Job, StoppedError
from elimipl.slides import MapStoppedError, SlideMap, map_slide
from elimipl_app.server.log import log_job
from elimipl_app.server.visitor import visitor
from elimipl_app.server.work_folder import work_folder
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.texts import in_line
from elimipl_app.slide import texts
from elimipl_app.slide.sources import Chosen

POLL_SECONDS = 1.0
PAGE = "slide"


class MapJob(Job[SlideMap]):
    """Maps a slide: goes on where an earlier one was stopped, and leaves a core for everybody's pages."""

    called, single, most_kept = "map", True, (8, 100)

    def __init__(self, owner: str, chosen: Chosen, predictor: Predictor, folder: Path) -> None:
        super().__init__(owner, PAGE, (chosen.id, predictor.card.id))
        self.slide_id, self.title, self.model = chosen.id, chosen.title, predictor.card.id
        self._slide, self._predictor, self._folder = chosen.slide, predictor, folder

    def work(self) -> SlideMap:
        """The map; its finished rows go."""
        workers = max(1, (os.cpu_count() or 1) - 1)
        slide, predictor, folder = self._slide, self._predictor, self._folder
        try:
            made = map_slide(
                slide, predictor, folder, workers=workers, resume=True, progress=self.tell, stop=self.should_stop
            )
        except MapStoppedError:
            raise StoppedError from None
        shutil.rmtree(folder, ignore_errors=True)
        return made

    def ended(self) -> None:
        """To the log."""
        log_job("map", self, tiles=self.progress.done, ms=round(1000 * self.progress.seconds))


def show_maps(chosen: Chosen, predictor: Predictor | None) -> tuple[Chosen, dict[str, SlideMap]]:
    """The facts of the slide and its maps; gives back the slide with its scale and the maps that are done, by title."""
    chosen = _with_scale(chosen)
    slide = chosen.slide
    st.caption(texts.facts(slide.width, slide.height, slide.microns_per_pixel))
    for note in slide.notes:
        st.info(note, icon=":material/info:")
    mine = jobs.SERVER.of(visitor(), PAGE)
    going = next((job for job in mine if not job.progress.is_over), None)
    if going is not None:
        st.fragment(_show_progress, run_every=POLL_SECONDS)(going)
    elif predictor is None:
        st.caption("Choose a model in the sidebar to map this slide.")
    else:
        _offer_start(chosen, predictor)
    _show_end(mine)
    return chosen, maps_of(chosen, mine)


def list_maps() -> None:
    """All maps of this browser: when, with which model, of which slide, and what is on them."""
    if mine := jobs.SERVER.of(visitor(), PAGE):
        st.subheader("Maps")
        _show_list(mine)


def maps_of(chosen: Chosen, mine: list[MapJob]) -> dict[str, SlideMap]:
    """The finished maps of a slide by a title each, the newest first."""
    done = [(job, job.progress.result) for job in mine if job.slide_id == chosen.id]
    finished = [(job, found) for job, found in done if found is not None]
    models = [job.model for job, _ in finished]
    return {
        job.model if models.count(job.model) == 1 else f"{job.model} · {job.made:%H:%M:%S} UTC": found
        for job, found in finished
    }


def _with_scale(chosen: Chosen) -> Chosen:
    """The slide with its scale: the one a person gives, else that of the file, else the one by its nuclei."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.container(width="stretch")
        microns = st.number_input(
            "Micrometres per pixel",
            0.05,
            20.0,
            None,
            0.05,
            help=texts.SCALE_HELP,
            key=f"slide_scale_{chosen.id}",
            width=260,
        )
    slide, scale = _scaled(chosen.id, microns, chosen.slide)
    place.info(scale.sentence, icon=":material/straighten:")
    return replace(chosen, slide=slide)


@st.cache_resource(max_entries=64, show_spinner=False)
def _scaled(slide_id: str, microns: float | None, _slide: Slide) -> tuple[Slide, ScaleDecision]:
    return at_decided_scale(_slide, microns)


def _offer_start(chosen: Chosen, predictor: Predictor) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        started = st.button("Map this slide", icon=":material/map:", type="primary", key="slide_start")
        st.caption(f"With {escape(predictor.card.called)}, in the background: you may leave this page or reload it.")
    if started:
        try:
            jobs.SERVER.start(MapJob(visitor(), chosen, predictor, _folder(chosen, predictor)))
        except InputError as error:
            show_error(error)
            return
        st.rerun()


def _folder(chosen: Chosen, predictor: Predictor) -> Path:
    """Where the finished rows of one visitor's map are kept while it is made."""
    what = (visitor(), chosen.id, chosen.slide.microns_per_pixel, predictor.card.fingerprint)
    return work_folder() / "maps" / hashlib.sha256(repr(what).encode()).hexdigest()[:32]


def _show_progress(job: MapJob) -> None:
    progress = job.progress
    if progress.is_over:
        st.rerun()  # the whole page: the map can be shown, and nobody asks for news any more
    bar, stop = st.columns([4, 1], vertical_alignment="center")
    said = "Looking for tissue…" if progress.state == RUNNING else ""
    if progress.total:
        said = texts.progress(escape(job.model), progress.done, progress.total, progress.seconds_left)
    said = " · ".join(filter(None, (said, in_line(*job.place))))
    bar.progress(min(1.0, progress.done / max(1, progress.total)), said)
    stop.button("Stop", icon=":material/stop:", on_click=job.stop, key="slide_stop", width="stretch")


def _show_end(mine: list[MapJob]) -> None:
    """How the newest job ended, where that is not a map."""
    if not mine:
        return
    progress = mine[0].progress
    if progress.state == FAILED and progress.error is not None:
        show_error(progress.error)
    elif progress.state == STOPPED:
        st.info(
            "Stopped; what is done is kept, and “Map this slide” goes on from there.", icon=":material/stop_circle:"
        )


def _show_list(mine: list[MapJob]) -> None:
    rows = []
    for job in mine:
        progress = job.progress
        found = progress.result
        rows.append(
            {
                "made": job.made,
                "model": job.model,
                "slide": job.title,
                "state": (
                    {
                        "waiting": "waiting",
                        "running": "in the making",
                        "done": "done",
                        "stopped": "stopped",
                        "failed": "not made",
                    }
                )[progress.state],
                "tiles": int(found.grid.is_tissue.sum()) if found else progress.done,
                "shares": texts.shares(found.shares(), found.label_space.title) if found else "",
                "left_out": texts.left_out(found.left_out) if found else "",
            }
        )
    st.dataframe(
        pd.DataFrame(rows, columns=list(texts.RESULTS_COLUMNS)),
        hide_index=True,
        width="stretch",
        column_config={
            name: st.column_config.DatetimeColumn(title, format="YYYY-MM-DD HH:mm") if name == "made" else title
            for name, title in texts.RESULTS_COLUMNS.items()
        },
        alt="The maps made in this browser: when, with which model, of which slide.",
    )

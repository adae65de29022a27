"""A progress bar as a callback."""

from tqdm import tqdm


class Bar:
    """Call it with what is done and what there is in all."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: tqdm | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = tqdm(total=total, desc=self._title, leave=False)
        self._bar.update(done - self._bar.n)
        if done == total:
            self._bar.close()

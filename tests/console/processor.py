"""Processor time of a page: what it takes on a machine of its own, however busy this one is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Page


@contextmanager
def main_thread(page: Page) -> Iterator[Callable[[], float]]:
    """Tells the processor seconds that the page's main thread has spent since."""
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_seconds() -> float:
        metrics = meter.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))

    try:
        yield busy_seconds
    finally:
        meter.detach()

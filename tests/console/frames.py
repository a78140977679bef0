"""How smoothly something scrolls: the times between frames, and the processor time the page needs for one."""

import sys
from dataclasses import dataclass

from playwright.sync_api import Locator

from tests.console.processor import main_thread

BUDGET = 1000 / 60
"""Milliseconds of one frame at 60 a second."""

_SCROLL = """
async (inside, { frames, pixels }) => {
  let region = inside
  while (region.scrollHeight <= region.clientHeight + 1) region = region.parentElement
  const times = []
  await new Promise((done) => {
    const step = (now) => {
      times.push(now)
      region.scrollTop += pixels
      if (times.length <= frames) requestAnimationFrame(step)
      else done()
    }
    requestAnimationFrame(step)
  })
  return times.slice(1).map((time, index) => time - times[index])
}
"""


@dataclass(frozen=True)
class Frames:
    millis: list[float]
    """From one frame to the next, sorted; on a busy machine mostly the time others took."""
    busy: float
    """Processor milliseconds of the page's main thread for one frame: what it would take on a machine of its own."""

    @property
    def median(self) -> float:
        return self.millis[len(self.millis) // 2]

    @property
    def slow(self) -> float:
        """19 of 20 are faster."""
        return self.millis[len(self.millis) * 95 // 100]

    def __str__(self) -> str:
        late = sum(millis > 1.5 * BUDGET for millis in self.millis)
        return (
            f"{self.busy:.1f} ms busy per frame; {len(self.millis)} frames {self.median:.1f} ms apart, 1 in 20 over"
            f" {self.slow:.1f}, the longest {self.millis[-1]:.1f}; {late} late"
        )


def scrolled(inside: Locator, *, frames: int = 120, pixels: int = 200) -> Frames:
    """Scrolls the region around an element down, so many pixels each frame (12,000 a second at 200 and 60).

    What was measured is shown by `./dev test tests/console -k smoothly -rP`.
    """
    with main_thread(inside.page) as busy_seconds:
        before = busy_seconds()
        millis: list[float] = inside.evaluate(_SCROLL, {"frames": frames, "pixels": pixels})
        busy = (busy_seconds() - before) * 1000 / frames
    measured = Frames(sorted(millis), busy)
    sys.stdout.write(f"{measured}\n")
    return measured

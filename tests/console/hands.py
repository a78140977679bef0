"""How somebody acts on a page: with the mouse, or with the keyboard alone and a focus that can always be seen."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

_MAX_STOPS = 400
_PLACES_OF_FOCUS = """() => {
  const focused = document.activeElement
  if (focused === null || focused === document.body) return null
  const active = document.getElementById(focused.getAttribute('aria-activedescendant') ?? '')
  const rings = [[focused, null], [focused, '::before'], [focused, '::after'], ...(active ? [[active, null]] : [])]
    .map(([element, pseudo]) => getComputedStyle(element, pseudo))
    .some((style) => (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)
      || style.boxShadow.includes('inset'))
  const box = (active ?? focused).getBoundingClientRect()
  const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)]
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)]
  const hits = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((x) => [0.1, 0.3, 0.5, 0.7, 0.9].map((y) =>
    document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y)))
  return {
    name: focused.outerHTML.slice(0, 200),
    isMarked: rings || focused.hasAttribute('data-highlighted'),
    isInView: left < right && top < bottom,
    isUncovered: hits.some((hit) => hit !== null && (focused.contains(hit) || hit.contains(focused))),
  }
}"""


@dataclass(frozen=True)
class Hand:
    """How somebody acts on the page."""

    press: Callable[[Locator], None]
    write: Callable[[Locator, str], None]
    choose: Callable[[Locator, str], object]
    pick_first: Callable[[Locator], None]
    """The first item of a tree."""


def mouse(page: Page) -> Hand:
    return Hand(
        press=lambda target: target.click(),
        write=lambda target, text: target.fill(text),
        choose=lambda target, name: target.select_option(label=name),
        pick_first=lambda tree: tree.get_by_role("treeitem").first.click(),
    )


def keyboard(page: Page) -> Hand:
    """Tab, Enter, Space and letters; the mouse is never touched, and the focus is seen wherever it goes."""

    def reach(target: Locator) -> None:
        target.wait_for()
        expect(target).to_be_enabled()
        for _ in range(_MAX_STOPS):
            if target.evaluate("(element) => element === document.activeElement"):
                return
            page.keyboard.press("Tab")
            require_visible_focus(page)
        raise AssertionError(f"the Tab key does not lead to {target}")

    def press(target: Locator) -> None:
        reach(target)
        checks = target.evaluate("(element) => element.type === 'checkbox'")
        page.keyboard.press("Space" if checks else "Enter")

    def write(target: Locator, text: str) -> None:
        reach(target)
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(text)

    def choose(target: Locator, name: str) -> None:
        reach(target)
        page.keyboard.type(name)

    def pick_first(tree: Locator) -> None:
        reach(tree)
        page.keyboard.press("Home")
        page.keyboard.press("Enter")

    return Hand(press, write, choose, pick_first)


def require_visible_focus(page: Page) -> str | None:
    """The focus can be seen (WCAG 2.4.7) and nothing hides it (2.4.11). None when it has left the page."""
    place = page.evaluate(_PLACES_OF_FOCUS)
    if place is None:
        return None
    for fact in ("isMarked", "isInView", "isUncovered"):
        assert place[fact], f"not {fact} on {page.url}: {place['name']}"
    return str(place["name"])

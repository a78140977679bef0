"""The waterfall of a Trace as a test sees it: its rows, and where a bar is."""

from playwright.sync_api import Locator, Page


def bar(page: Page, name: str) -> tuple[float, float]:
    """Left and right of a bar, as fractions of the axis."""
    left, right = page.get_by_role("treeitem", name=name).evaluate(
        """(row) => {
          const area = row.lastElementChild.getBoundingClientRect()
          const bar = row.lastElementChild.firstElementChild.getBoundingClientRect()
          return [(bar.left - area.left) / area.width, (bar.right - area.left) / area.width]
        }"""
    )
    return left, right


def rows(page: Page) -> Locator:
    return page.get_by_role("tree", name="Waterfall").get_by_role("treeitem")

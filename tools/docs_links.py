"""Keeps links to files outside `docs` true: a viewer of the repository follows them, the site shows their text."""

import logging
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[(?P<text>[^\]\n]+)\]\((?P<target>[^)\s:]+)\)")
_LOG = logging.getLogger("mkdocs.hooks.docs_links")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Called for every page; a warning makes a strict build fail."""
    docs, here = Path(config["docs_dir"]).resolve(), Path(page.file.abs_src_path).parent

    def plain(link: re.Match[str]) -> str:
        target = (here / link["target"].partition("#")[0]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            _LOG.warning("%s links to %s, which does not exist", page.file.src_path, link["target"])
        return link["text"]

    return _LINK.sub(plain, markdown)

"""Puts the OpenAPI documents into the site, beside the page that tries the API with them."""

from typing import Any

from mkdocs.structure.files import File, Files

from tools.openapi_bundle import BUNDLED

FOLDER = "reference/openapi"


def on_files(files: Files, *, config: Any) -> Files:
    """Called once, before the pages are read."""
    for path in sorted(BUNDLED.glob("*.json")):
        files.append(File.generated(config, f"{FOLDER}/{path.name}", abs_src_path=str(path)))
    return files

#!/usr/bin/env python3
"""As much of curl as the pages use, for machines that have none; it stands last in the path of a followed page."""

import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path


def main(arguments: list[str]) -> int:
    parser = ArgumentParser()
    parser.add_argument("-s", "-S", "-N", action="store_true")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-X", dest="method", default=None)
    parser.add_argument("-d", dest="body", default=None)
    parser.add_argument("url")
    given = parser.parse_args(arguments)
    body = None if given.body is None else given.body.encode()
    if given.body is not None and given.body.startswith("@"):
        body = Path(given.body[1:]).read_bytes()
    headers = dict(header.split(": ", 1) for header in given.headers)
    request = urllib.request.Request(given.url, data=body, headers=headers, method=given.method)  # noqa: S310
    try:
        answer = urllib.request.urlopen(request, timeout=60)  # noqa: S310
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        sys.stdout.buffer.write(answer.read())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Which certificate authorities a command trusts when it asks an Agent itself."""

import ssl
from pathlib import Path

import certifi
import click

from aop.cli.shell.options import PATH
from aop.cli.shell.problems import CommandProblem
from aop.client import AuthoritiesNotUsable
from aop.client.authorities import trusted_context

ca_of_agent = click.option(
    "--ca",
    metavar="FILE",
    type=PATH,
    help="Trust the certificate authorities of this PEM file at the Agent; default: SSL_CERT_FILE.",
)
UNTRUSTED = "give the CA that issued its certificate with --ca FILE or SSL_CERT_FILE"


def agent_context(ca: Path | None, url: str, *, beside_public: bool = False) -> ssl.SSLContext | None:
    """None for the certifi roots, which `beside_public` adds: a file given for the Gateway may not know the Agent."""
    try:
        context = trusted_context(ca, is_https=url.lower().startswith("https:"))
    except AuthoritiesNotUsable as problem:
        raise CommandProblem(str(problem), code="not_configured") from None
    if context is not None and beside_public:
        context.load_verify_locations(certifi.where())
    return context

"""An Agent whose certificate is of a private authority: the Router calls it when it has the file of that authority."""

from pathlib import Path

from tests.router.conftest import Lone
from tests.support.authority import Authority


async def test_an_agent_with_a_private_authority_needs_the_file_of_it(lone: Lone, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tls = authority.server_context("127.0.0.1")
    async with lone(tls=tls) as router:
        refused = (await router.dispatch()).json
        assert (refused["code"], refused["reason"]) == ("AGENT_UNAVAILABLE", "tls_failed")
    async with lone(tls=tls, PLATFORM_CA_FILE=str(authority.roots)) as router:
        assert (await router.dispatch()).status == 200

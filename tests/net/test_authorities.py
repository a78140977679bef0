"""Private authorities stand beside the public ones, and a file that cannot be used is refused at the start."""

from pathlib import Path

import pytest

from aop.net.authorities import beside_public, ca_file, certified_context
from tests.support.authority import Authority


def test_private_authorities_are_added_to_the_public_ones(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = beside_public(authority.roots)
    assert context is not None
    public = certified_context().get_ca_certs(binary_form=True)
    (private,) = certified_context(authority.roots).get_ca_certs(binary_form=True)
    assert set(context.get_ca_certs(binary_form=True)) == {*public, private}
    assert beside_public(None) is None


@pytest.mark.parametrize("content", [None, b"", b"nothing", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_that_holds_no_certificate_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match="must be a readable file of PEM certificates"):
        ca_file(str(file))

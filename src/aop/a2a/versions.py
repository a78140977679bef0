"""The versions of A2A that differ on the wire, and the header that names one."""

from enum import StrEnum
from typing import Final

VERSION_HEADER: Final = b"a2a-version"


class A2AVersion(StrEnum):
    """Major and minor: the rest of a version number changes nothing on the wire."""

    V0_3 = "0.3"
    V1_0 = "1.0"

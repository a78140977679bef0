"""The JSON form of A2A 1.0, which is that of its protocol buffers: names and parts that both sides of the wire need."""

from typing import Final

import msgspec

STATE_PREFIX: Final = "TASK_STATE_"
USER: Final = "ROLE_USER"
AGENT: Final = "ROLE_AGENT"


class ProtoObject(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """An object whose further members do not matter here. Absent and empty are the same, as in all protocol buffers."""


class ProtoPart(ProtoObject, frozen=True, omit_defaults=True):
    """The one member of content that is there says what it is; values keep their bytes."""

    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    url: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    filename: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    media_type: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    kind: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Parts of A2A 0.3 have it, and those of 1.0 have not."""


class ProtoMessage(ProtoObject, frozen=True):
    message_id: str
    role: str = ""
    parts: tuple[ProtoPart, ...] = ()
    task_id: str = ""
    context_id: str = ""

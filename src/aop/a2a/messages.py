"""The message of a caller in either version of A2A, read into what an Invocation needs.

The envelope is read by its types alone. Whether the input is strict JSON and fits the Skill, the platform says.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import msgspec

from aop.a2a.rpc import (
    DataPart,
    FilePart,
    HistoryLength,
    InvalidParams,
    MessageConfiguration,
    PartNotSupported,
    TaskNotFound,
    TextPart,
    UserMessage,
    read_params,
)
from aop.a2a.v1_0 import USER, ProtoMessage, ProtoObject, ProtoPart
from aop.a2a.versions import A2AVersion

MAX_CONTEXT: Final = 256
"""Characters of a context id: every event of an answer repeats it."""
_BRACE: Final = b"{"
_NULL: Final = b"null"
_NOTHING: Final = msgspec.Raw(_NULL)
_MEDIA_TYPE: Final = ("mediaType", "mimeType")
_JSON: Final = "application/json"


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    skill_id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | None = None


class _TypedData(DataPart, frozen=True, tag="data"):
    """A2A 0.3 has no member for the media type of data: clients put it into the metadata."""

    metadata: msgspec.Raw = _NOTHING


class _NamedMessage(UserMessage, frozen=True, rename="camel", kw_only=True):
    kind: Literal["message"] = "message"
    parts: Annotated[tuple[_TypedData | TextPart | FilePart, ...], msgspec.Meta(min_length=1)]
    metadata: _Metadata | None = None


class _Params(msgspec.Struct, frozen=True):
    message: _NamedMessage
    configuration: MessageConfiguration | None = None
    metadata: _Metadata | None = None


class _NamedProtoMessage(ProtoMessage, frozen=True):
    metadata: _Metadata | None = None


class _ProtoConfiguration(ProtoObject, frozen=True):
    accepted_output_modes: tuple[str, ...] = ()
    task_push_notification_config: dict[str, Any] | None = None
    history_length: HistoryLength = None


class _ProtoParams(ProtoObject, frozen=True):
    message: _NamedProtoMessage
    configuration: _ProtoConfiguration | None = None
    metadata: _Metadata | None = None


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """`input` is the JSON text of an object or of a string; without a `skill_id` the Agent's only Skill is meant."""

    input: msgspec.Raw = field(repr=False)
    skill_id: str | None
    context_id: str | None
    history_length: int | None


@dataclass(frozen=True, slots=True)
class _Content:
    """What the parts of a message hold. `foreign` is data of a media type that is not ours."""

    texts: list[str] = field(default_factory=list)
    objects: list[msgspec.Raw] = field(default_factory=list)
    foreign: list[msgspec.Raw] = field(default_factory=list)

    def add_data(self, data: msgspec.Raw, media_type: object) -> None:
        named = media_type.partition(";")[0].strip().lower() if isinstance(media_type, str) else ""
        (self.objects if named in {"", _JSON} else self.foreign).append(data)

    def input(self) -> msgspec.Raw:
        """Text parts are one string, a line each; a data part is an object. With text, foreign data is left out:
        clients send it for servers of their own kind."""
        objects = self.objects if self.texts else [*self.objects, *self.foreign]
        if (self.texts and objects) or len(objects) > 1:
            raise InvalidParams("A message has text parts, or one data part")
        if self.texts:
            return msgspec.Raw(msgspec.json.encode("\n".join(self.texts)))
        if not bytes(objects[0]).startswith(_BRACE):
            raise InvalidParams("The data of a part must be an object")
        return objects[0]


def read_message(version: A2AVersion, params: msgspec.Raw) -> IncomingMessage:
    return _read_0_3(params) if version is A2AVersion.V0_3 else _read_1_0(params)


def _read_0_3(raw: msgspec.Raw) -> IncomingMessage:
    params = read_params(raw, _Params)
    message = params.message
    configuration = params.configuration or MessageConfiguration()
    configuration.require_supported()
    if message.task_id:
        raise TaskNotFound
    content = _Content()
    for part in message.parts:
        if isinstance(part, FilePart):
            raise PartNotSupported
        if isinstance(part, TextPart):
            content.texts.append(part.text)
        else:
            metadata = read_params(part.metadata, object)
            named = metadata if isinstance(metadata, dict) else {}
            content.add_data(part.data, next((named[name] for name in _MEDIA_TYPE if name in named), None))
    skill_id = _skill(message.metadata, params.metadata)
    return IncomingMessage(content.input(), skill_id, message.context_id, configuration.history_length)


def _read_1_0(raw: msgspec.Raw) -> IncomingMessage:
    params = read_params(raw, _ProtoParams)
    message, configuration = params.message, params.configuration or _ProtoConfiguration()
    modes, push = configuration.accepted_output_modes or None, configuration.task_push_notification_config
    MessageConfiguration(accepted_output_modes=modes, push_notification_config=push).require_supported()
    if not message.message_id:
        raise InvalidParams("The message has no messageId")
    if message.role != USER:
        raise InvalidParams(f"The role must be {USER}")
    if not message.parts:
        raise InvalidParams("The message has no parts")
    if message.task_id:
        raise TaskNotFound
    if len(message.context_id) > MAX_CONTEXT:
        raise InvalidParams(f"The contextId is longer than {MAX_CONTEXT} characters")
    content = _Content()
    for part in message.parts:
        _sort(part, content)
    skill_id = _skill(message.metadata, params.metadata)
    return IncomingMessage(content.input(), skill_id, message.context_id or None, configuration.history_length)


def _sort(part: ProtoPart, content: _Content) -> None:
    """A part of A2A 1.0 has one content; a member that is null counts as absent."""
    contents = {
        name: value
        for name in ("text", "data", "raw", "url")
        if (value := getattr(part, name)) is not msgspec.UNSET and bytes(value) != _NULL
    }
    if len(contents) != 1:
        raise InvalidParams("A part has exactly one content")
    if "text" in contents:
        content.texts.append(read_params(contents["text"], str))
    elif "data" in contents:
        media_type = None if part.media_type is msgspec.UNSET else read_params(part.media_type, object)
        content.add_data(contents["data"], media_type)
    else:
        raise PartNotSupported


def _skill(*places: _Metadata | None) -> str | None:
    """In the metadata of the message or of the request."""
    named = {place.skill_id for place in places if place is not None and place.skill_id is not None}
    if len(named) > 1:
        raise InvalidParams("The metadata names two Skills")
    return named.pop() if named else None

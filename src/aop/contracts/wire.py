"""The base of every hand-written reader: frozen, closed, camelCase on the wire, absent members left out."""

import msgspec


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A closed object of a contract document."""

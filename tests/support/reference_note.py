"""A second reader of signed notes, from the words of c2sp.org/signed-note and c2sp.org/tlog-checkpoint.

It uses nothing of the product, and another library for Ed25519.
"""

import base64
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def opened(note: bytes, verifier_key: str) -> str:
    """The text. Raises if the key has not signed it."""
    name, key_id, encoded = verifier_key.split("+", 2)
    typed = base64.b64decode(encoded)
    assert typed[0] == 1
    assert len(typed) == 33
    assert sha256(name.encode() + b"\n" + typed).digest()[:4].hex() == key_id
    split = note.rindex(b"\n\n")
    text, lines = note[: split + 1], note[split + 2 :].decode().split("\n")
    assert lines.pop() == ""
    confirmed = 0
    for line in lines:
        dash, signer, signature = line.split(" ")
        assert dash == "\N{EM DASH}"
        raw = base64.b64decode(signature, validate=True)
        if (signer, raw[:4].hex()) == (name, key_id):
            Ed25519PublicKey.from_public_bytes(typed[1:]).verify(raw[4:], text)
            confirmed += 1
    assert confirmed, "no signature of the key"
    return text.decode()


def head_of(text: str) -> tuple[str, int, str]:
    """Origin, size and root."""
    origin, size, root, *extensions, end = text.split("\n")
    assert end == ""
    assert all([origin, *extensions])
    assert str(int(size)) == size
    raw = base64.b64decode(root, validate=True)
    assert len(raw) == 32
    return origin, int(size), raw.hex()

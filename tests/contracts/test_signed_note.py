"""Signed notes and checkpoints: the published examples of others, our vectors, and every change of one."""

import random
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature

from aop.contracts.signed_note import NoteKey, NoteRefused, NoteSigner, TreeCheckpoint, text_signed_by
from aop.contracts.signing import SigningKey
from tests.support import reference_note
from tests.support.every import every
from tests.support.vectors import each, vectors

# As published with the first implementation of signed notes (golang.org/x/mod/sumdb/note): a key for examples alone.
PUBLISHED_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_PRIVATE_KEY = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PUBLISHED_TEXT = """If you think cryptography is the answer to your problem,
then you don't know what your problem is.
"""
PUBLISHED_SIGNATURE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
PUBLISHED = f"{PUBLISHED_TEXT}\n{PUBLISHED_SIGNATURE}".encode()


def is_accepted(note: bytes, key: NoteKey) -> bool:
    try:
        TreeCheckpoint.parse(text_signed_by(key, note))
    except NoteRefused:
        return False
    return True


@pytest.mark.rows("SOUND-09")
def test_a_note_that_others_published_is_read_and_made_alike() -> None:
    key, signer = NoteKey.parse(PUBLISHED_KEY), NoteSigner.parse(PUBLISHED_PRIVATE_KEY)
    assert text_signed_by(key, PUBLISHED) == reference_note.opened(PUBLISHED, PUBLISHED_KEY) == PUBLISHED_TEXT
    assert (signer.public, signer.text, key.text) == (key, PUBLISHED_PRIVATE_KEY, PUBLISHED_KEY)
    assert signer.signed(PUBLISHED_TEXT) == PUBLISHED


@pytest.mark.rows("SOUND-09")
@each("ledger-checkpoint")
def test_a_checkpoint_is_judged_as_the_vector_says(case: dict[str, Any]) -> None:
    note = case["note"].encode()
    if case["verdict"] == "refused":
        with pytest.raises(NoteRefused):
            TreeCheckpoint.parse(text_signed_by(NoteKey.parse(case["watcher"]), note))
        return
    found = TreeCheckpoint.parse(text_signed_by(NoteKey.parse(case["watcher"]), note))
    expected = (case["origin"], case["size"], case["root"])
    assert (found.origin, found.size, found.root.hex()) == expected
    assert reference_note.head_of(reference_note.opened(note, case["watcher"])) == expected


@pytest.mark.rows("SOUND-09")
def test_the_first_vector_is_signed_with_the_key_in_the_file() -> None:
    file = vectors("ledger-checkpoint")
    signer, case = NoteSigner.parse(file["privateKey"]), file["cases"][0]
    checkpoint = TreeCheckpoint(case["origin"], case["size"], bytes.fromhex(case["root"]))
    assert signer.signed(checkpoint.text).decode() == case["note"]
    assert signer.public.text == case["watcher"]


@pytest.mark.rows("SOUND-09")
def test_every_change_of_a_checkpoint_is_refused() -> None:
    case, chance = vectors("ledger-checkpoint")["cases"][0], random.Random(9)
    note, key = case["note"].encode(), NoteKey.parse(case["watcher"])
    assert is_accepted(note, key)
    for place in range(len(note)):
        changed = bytearray(note)
        changed[place] = chance.choice([byte for byte in range(256) if byte != note[place]])
        assert not is_accepted(bytes(changed), key), place
        assert not is_accepted(note[:place] + note[place + 1 :], key), place
        with pytest.raises((InvalidSignature, AssertionError, ValueError)):
            reference_note.head_of(reference_note.opened(bytes(changed), case["watcher"]))


@every("place", range(len(PUBLISHED_KEY)))
def test_a_changed_key_is_refused(place: int) -> None:
    changed = PUBLISHED_KEY[:place] + chr(ord(PUBLISHED_KEY[place]) + 1) + PUBLISHED_KEY[place + 1 :]
    for text in (changed, PUBLISHED_KEY[:place], PUBLISHED_KEY[place + 1 :]):
        with pytest.raises(NoteRefused):
            NoteKey.parse(text)


@pytest.mark.parametrize("name", ["", "two words", "a+b", "line\nbreak", "no\u00a0break", "nul\0"])
def test_a_name_is_one_word_without_a_plus(name: str) -> None:
    with pytest.raises(NoteRefused):
        NoteSigner(name, SigningKey.generate())


@pytest.mark.parametrize("origin", ["", "two words", "line\nbreak"])
def test_an_origin_is_one_word(origin: str) -> None:
    with pytest.raises(NoteRefused):
        TreeCheckpoint(origin, 1, bytes(32))

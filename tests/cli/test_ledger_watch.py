"""`aop ledger watch` with a key: two Routers write, each head that continues the last is signed, a rewrite is not."""

import asyncio
import json
import stat
from pathlib import Path

import asyncpg
import pytest

from aop.contracts.signed_note import NoteSigner, TreeCheckpoint
from aop.ledger.sequence import sequencer as sequencing
from aop.ledger.tree.growth import TreeGrowth
from aop.local.state import DatabaseUrls
from tests.cli.conftest import Aop, Ended
from tests.cli.forging import an_invocation, bundle_of, consistency_of, fillers, head_of, leaves_of
from tests.ledger.test_sequence import rows, sequencer, some_calls
from tests.ledger.test_tree import HEADS, all_in_tree
from tests.ledger.writing import writing
from tests.support import reference_note
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.second_ring

ORIGIN = "gateway.example.com/ledger"


class Watcher:
    """Its key, its folder of checkpoints and its file of heads."""

    def __init__(self, aop: Aop, folder: Path, url: str) -> None:
        self._aop, self._url = aop, url
        self.key, self.heads, self.checkpoints = folder / "watcher.key", folder / "heads.txt", folder / "signed"
        self.checkpoints.mkdir()
        self.public = aop("ledger", "watch-key", str(self.key), "--name", "watch.example.com", "--json").json[
            "publicKey"
        ]

    async def watch(self, *more: str) -> Ended:
        signing = ("--key", str(self.key), "--gateway", "https://Gateway.example.com:443/", "--checkpoints")
        command = ("ledger", "watch", str(self.heads), *signing, str(self.checkpoints), *more)
        return await asyncio.to_thread(self._aop, *command, PLATFORM_ROUTER_DATABASE_URL=self._url)

    def signed(self) -> dict[int, str]:
        """Roots by sizes, as somebody else reads them."""
        found = {}
        for path in self.checkpoints.iterdir():
            origin, size, root = reference_note.head_of(reference_note.opened(path.read_bytes(), self.public))
            assert (origin, path.name) == (ORIGIN, f"checkpoint-{size}")
            found[size] = root
        return found


@pytest.mark.rows("SOUND-09")
async def test_each_head_of_two_routers_is_signed_and_a_rewritten_history_is_not(
    stores: DatabaseUrls, postgres: PostgresForTests, alone: Aop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencing, "TAKE_OVER_SECONDS", 0.05)
    url, watcher = stores.router, Watcher(alone, tmp_path, stores.router)
    early = await watcher.watch()
    assert (early.code, "no head yet" in early.err) == (1, True), early
    async with writing(url) as written, writing(url, router_id="router-2") as beside:
        for number in range(4):
            async with sequencer(url, f"numbering-{number}"), sequencer(url, f"next-{number}"):
                await asyncio.gather(some_calls(written, 5), some_calls(beside, 5))
                await all_in_tree(url)
                found = await watcher.watch("--rows")
                assert found.code == 0, found
    everything = {row["size"]: row["root"].hex() for row in await rows(url, HEADS)}
    signed, heads = watcher.signed(), watcher.heads.read_text()
    assert len(signed) == len(heads.splitlines()) == 4
    assert signed.items() <= everything.items()
    assert (await watcher.watch()).code == 0
    assert (watcher.signed(), watcher.heads.read_text()) == (signed, heads)
    await _rewritten(postgres, url)
    for more in ((), ("--rows",)):
        changed = await watcher.watch(*more)
        assert (changed.code, "HISTORY WAS CHANGED" in changed.out) == (1, True), changed
    watcher.heads.unlink()
    forgotten = await watcher.watch("--json")
    assert (forgotten.code, forgotten.json["changed"]) == (1, True), forgotten
    assert (watcher.signed(), watcher.heads.exists()) == (signed, False)


async def _rewritten(postgres: PostgresForTests, url: str) -> None:
    """An event, tiles and heads are made anew, and calls follow: the store agrees with itself."""
    owner = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        for table in ("event", "tree_tile", "tree_head"):
            await owner.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER ALL")
        await owner.execute(
            "UPDATE ledger.event SET event_id = gen_random_uuid() WHERE (invocation_id, sequence) ="
            " (SELECT invocation_id, sequence FROM ledger.number WHERE sequence > 0 ORDER BY number LIMIT 1)"
        )
        size = await owner.fetchval("SELECT max(size) FROM ledger.tree_head")
        await owner.execute("TRUNCATE ledger.tree_tile, ledger.tree_head")
        await (await TreeGrowth.resumed(owner)).grow(size)
    finally:
        await owner.close()


@pytest.mark.rows("SOUND-09")
async def test_a_checkpoint_that_was_exchanged_is_not_continued(
    stores: DatabaseUrls, alone: Aop, tmp_path: Path
) -> None:
    """Of another key, of another Ledger, of another size, or changed: nothing is signed behind it."""
    url, watcher = stores.router, Watcher(alone, tmp_path, stores.router)
    async with writing(url) as written, sequencer(url, "router-2"):
        await some_calls(written, 3)
        await all_in_tree(url)
    assert (await watcher.watch()).code == 0
    (checkpoint,) = watcher.checkpoints.iterdir()
    right = checkpoint.read_bytes()
    for wrong in (b"", right.replace(b"gateway", b"gatevay"), right[:-9] + b"AAAAAAA=\n"):
        checkpoint.write_bytes(wrong)
        refused = await watcher.watch()
        assert (refused.code, "is no checkpoint of this key" in refused.err) == (1, True), refused
    checkpoint.unlink()
    (watcher.checkpoints / "checkpoint-9999").write_bytes(right)
    assert "checkpoint-9999 is of" in (await watcher.watch()).err


def test_a_key_is_made_once_for_its_owner_alone(alone: Aop, tmp_path: Path) -> None:
    key, heads = tmp_path / "watcher.key", str(tmp_path / "heads.txt")
    made = alone("ledger", "watch-key", str(key), "--name", "watch.example.com")
    assert made.out.startswith("watch.example.com+")
    assert (made.code, stat.S_IMODE(key.stat().st_mode)) == (0, 0o600)
    assert "PRIVATE" not in made.out + made.err
    private = key.read_text()
    again = alone("ledger", "watch-key", str(key), "--name", "watch.example.com")
    assert (again.code, "there already" in again.err, key.read_text()) == (1, True, private)
    assert alone("ledger", "watch-key", str(tmp_path / "other"), "--name", "two words").code == 2
    assert not (tmp_path / "other").exists()
    signing = ("--gateway", "https://gateway.example.com", "--checkpoints", str(tmp_path))
    assert alone("ledger", "watch", heads, "--key", str(key)).code == 2
    assert alone("ledger", "watch", heads, "--key", str(key), "--gateway", "example", *signing[2:]).code == 2
    key.chmod(0o644)
    open_key = alone("ledger", "watch", heads, "--key", str(key), *signing)
    assert (open_key.code, "can be read by others" in open_key.err) == (1, True)
    key.write_text(private.replace("+A", "+B", 1))
    key.chmod(0o600)
    broken = alone("ledger", "watch", heads, "--key", str(key), *signing)
    assert (broken.code, "no private key" in broken.err, private.split("+")[-1][:20] in broken.err) == (1, True, False)


@pytest.mark.rows("SOUND-08", "SOUND-09")
def test_a_bundle_is_accepted_under_a_head_that_a_watcher_signed(alone: Aop, tmp_path: Path) -> None:
    leaves = [*fillers(5), *leaves_of(an_invocation()), *fillers(4)]
    bundle, proof = tmp_path / "bundle.json", tmp_path / "proof.json"
    bundle.write_text(json.dumps(bundle_of(an_invocation(), 5, leaves)))
    alone("ledger", "watch-key", str(tmp_path / "key"), "--name", "watch.example.com")
    signer = NoteSigner.parse((tmp_path / "key").read_text().strip())
    watcher = ("--watcher", signer.public.text)

    def checkpoint(size: int) -> tuple[str, str]:
        root = bytes.fromhex(head_of(leaves[:size])["root"])
        path = tmp_path / f"checkpoint-{size}"
        path.write_bytes(signer.signed(TreeCheckpoint(ORIGIN, size, root).text))
        return "--checkpoint", str(path)

    right = alone("verify", str(bundle), *checkpoint(len(leaves)), *watcher)
    assert (right.code, f"signed by {signer.public.text} for {ORIGIN}" in right.out) == (0, True), right
    for size, code in ((4, 1), (8, 1), (9, 0), (12, 0)):
        proof.write_text(json.dumps(consistency_of(size, leaves)))
        alone_refused = alone("verify", str(bundle), *checkpoint(size), *watcher)
        assert (alone_refused.code, "another size" in alone_refused.out) == (1, True), alone_refused
        assert alone("verify", str(bundle), *checkpoint(size), *watcher, "--consistency", str(proof)).code == code
    alone("ledger", "watch-key", str(tmp_path / "other"), "--name", "watch.example.com")
    other = NoteSigner.parse((tmp_path / "other").read_text().strip()).public.text
    stranger = alone("verify", str(bundle), *checkpoint(len(leaves)), "--watcher", other)
    assert (stranger.code, "not signed by watch.example.com" in stranger.out) == (1, True), stranger
    right_size = checkpoint(len(leaves))
    for wrong in (right_size, watcher, (*right_size, *watcher, "--head", "1:00"), (*right_size, "--watcher", "x")):
        assert alone("verify", str(bundle), *wrong).code == 2

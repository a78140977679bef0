"""Planted bugs of the edges: HTTP, the network policy, credentials, tokens, proofs, the log."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_VERIFIER = "src/aop/agent/verifier.py"
_PROOF = "src/aop/control_plane/registry/proof_fetch.py"
_CHALLENGES = "src/aop/control_plane/registry/challenges.py"

EDGES: Sequence[Mutant] = (
    Mutant(
        "replays are looked for, then recorded",
        "src/aop/agent/replay.py",
        "        if self._seen.setdefault(jti, mark) is not mark:\n",
        "        known = jti in self._seen\n"
        "        __import__('time').sleep(0.001)\n"
        "        self._seen[jti] = mark\n"
        "        if known:\n",
        "A stolen credential sent twice at once would be taken twice.",
    ),
    Mutant(
        "no audience check",
        _VERIFIER,
        "if claims.aud[0] != self._trust.audience:  # 8",
        "if False:  # 8",
        "An Agent could use a credential it was given to be the Router at another Agent.",
    ),
    Mutant(
        "no check of bodySha256",
        _VERIFIER,
        "if not hmac.compare_digest(hashlib.sha256(body).hexdigest(), claims.body_sha256):  # 10",
        "if False:  # 10",
        "Whoever holds a credential could put another request under it.",
    ),
    Mutant(
        "one redirect is followed",
        _PROOF,
        "                return await _judged(answer)\n",
        "                if 300 <= answer.status < 400:\n"
        '                    there = answer.headers_named(b"location")[0].decode().rpartition("/")[2]\n'
        "                    return await self.fetch(origin, there, seconds)\n"
        "                return await _judged(answer)\n",
        "An open redirect on somebody's host would prove that host.",
    ),
    Mutant(
        "the name is resolved again for the connection",
        _PROOF,
        "Target(origin.scheme, origin.host, origin.port, address)",
        "Target(origin.scheme, origin.host, origin.port, self._policy._resolver._lookup(origin.host)[0])",
        "A name that changes its mind would lead the platform into its own network.",
    ),
    Mutant(
        "one good address is enough",
        "src/aop/net/policy/policy.py",
        "    if AddressClass.NEVER in classes:\n",
        "    if classes == {AddressClass.NEVER}:\n",
        "A name with one public address could hide a metadata endpoint beside it.",
    ),
    Mutant(
        "bytes push the deadline",
        "src/aop/net/http/connection.py",
        "            reader.feed(data)\n",
        "            reader.feed(data)\n            self._deadline += 60\n",
        "An Agent that drips could hold an Invocation for ever.",
    ),
    Mutant(
        "a second request in one piece is let in",
        "src/aop/net/server/connection.py",
        "        if reader.excess:\n            self.abort()\n        elif",
        "        if",
        "A caller could blind the watch for its own leaving.",
    ),
    Mutant(
        "a member named twice is taken",
        "src/aop/base/json.py",
        "        if len(found) == len(pairs):\n",
        "        if True:\n",
        "Two readers of one text could see two different requests.",
    ),
    Mutant(
        "revoked access tokens work",
        "src/aop/control_plane/gateway/store.py",
        " WHERE token_sha256 = ANY($1) AND revoked_at IS NULL",
        " WHERE token_sha256 = ANY($1)",
        "A lost token could not be taken back.",
    ),
    Mutant(
        "a wrong proof counts",
        _CHALLENGES,
        "if hmac.compare_digest(_sha256(served.content), challenge.proof_sha256):",
        "if served.content:",
        "Any host that answers would be anybody's host.",
    ),
    Mutant(
        "an expiry during the fetch is not seen",
        _CHALLENGES,
        "        if now >= expires_at:\n",
        "        if False:\n",
        "A slow answer would stretch the life of a challenge.",
    ),
    Mutant(
        "the text of a fault in the log",
        "src/aop/serving/request_log.py",
        "    return f\"{type(error).__name__} at {' > '.join(places[-6:])}\"\n",
        "    return f\"{error!r} at {' > '.join(places[-6:])}\"\n",
        "Exceptions repeat what they choke on, and that is often content.",
    ),
    Mutant(
        "a token in an error",
        "src/aop/serving/bearer.py",
        'raise Forbidden("unknown service token")',
        "raise Forbidden(bearer_token(request))",
        "A mistyped token would be in the log of a unit, for whoever reads logs.",
    ),
    Mutant(
        "a stalled reader makes the heartbeat spin",
        "src/aop/serving/streaming.py",
        "            self._last = now\n",
        "",
        "One reader who stops reading would take a whole core.",
    ),
)

"""Planted bugs of the edges: HTTP, the network policy, credentials, tokens, proofs, the log."""

from collections.abc import Sequence

from tests.faults.planted.mutant import Mutant

_VERIFIER = "src/aop/agent/verifier.py"
_VECTORS = "tests/agent/test_verifier.py::test_a_credential_vector_ends_at_its_check_with_its_status"
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
        "tests/agent/test_replay.py::test_threads_that_present_one_jti_at_once_see_one_admission",
        "A stolen credential sent twice at once would be taken twice.",
    ),
    Mutant(
        "no audience check",
        _VERIFIER,
        "if claims.aud[0] != self._trust.audience:  # 8",
        "if False:  # 8",
        _VECTORS,
        "An Agent could use a credential it was given to be the Router at another Agent.",
    ),
    Mutant(
        "no check of bodySha256",
        _VERIFIER,
        "if not hmac.compare_digest(hashlib.sha256(body).hexdigest(), claims.body_sha256):  # 10",
        "if False:  # 10",
        _VECTORS,
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
        "tests/gateway/test_proof_fetch.py::test_a_redirect_is_not_followed",
        "An open redirect on somebody's host would prove that host.",
    ),
    Mutant(
        "the name is resolved again for the connection",
        _PROOF,
        "Target(origin.scheme, origin.host, origin.port, address)",
        "Target(origin.scheme, origin.host, origin.port, self._policy._resolver._look_up(origin.host)[0])",
        "tests/gateway/test_proof_addresses.py"
        "::test_the_judged_address_is_dialed_although_a_second_look_up_would_differ",
        "A name that changes its mind would lead the platform into its own network.",
    ),
    Mutant(
        "one good address is enough",
        "src/aop/base/network_policy/judgement.py",
        "    if AddressClass.NEVER in classes:\n",
        "    if classes == {AddressClass.NEVER}:\n",
        "tests/base/test_network_policy.py::test_one_refused_address_refuses_the_host_and_otherwise_the_first_is_dialed",
        "A name with one public address could hide a metadata endpoint beside it.",
    ),
    Mutant(
        "bytes push the deadline",
        "src/aop/base/http/connection.py",
        "            reader.feed(data)\n",
        "            reader.feed(data)\n            self._deadline += 60\n",
        "tests/base/test_http_client_deadlines.py"
        "::test_the_deadline_holds_in_the_head_and_in_the_body_and_closes_the_connection",
        "An Agent that drips could hold an Invocation for ever.",
    ),
    Mutant(
        "a second request in one piece is let in",
        "src/aop/base/server/connection.py",
        "        if reader.excess:\n            self.abort()\n        elif",
        "        if",
        "tests/base/test_http_server_limits.py::test_two_requests_in_one_piece_are_closed_without_being_served",
        "A caller could blind the watch for its own leaving.",
    ),
    Mutant(
        "a member named twice is taken",
        "src/aop/base/json.py",
        "        if len(found) == len(pairs):\n",
        "        if True:\n",
        "tests/base/test_json.py::test_a_member_named_twice_is_refused_wherever_it_stands",
        "Two readers of one text could see two different requests.",
    ),
    Mutant(
        "revoked access tokens work",
        "src/aop/control_plane/gateway/store.py",
        " AND revoked_at IS NULL",
        "",
        "tests/gateway/test_access_tokens.py::test_unknown_expired_and_revoked_tokens_are_refused",
        "A lost token could not be taken back.",
    ),
    Mutant(
        "a wrong proof counts",
        _CHALLENGES,
        'if hmac.compare_digest(_sha256(served.content), challenge["proof_sha256"]):',
        "if served.content:",
        "tests/gateway/test_proof_fetch.py::test_the_proof_with_anything_around_it_is_wrong",
        "Any host that answers would be anybody's host.",
    ),
    Mutant(
        "an expiry during the fetch is not seen",
        _CHALLENGES,
        "        if now >= expires_at:\n",
        "        if False:\n",
        "tests/gateway/test_challenges.py::test_an_expiry_that_passes_during_the_fetch_wins_over_whatever_was_served",
        "A slow answer would stretch the life of a challenge.",
    ),
    Mutant(
        "the text of a fault in the log",
        "src/aop/serving/request_log.py",
        "    return f\"{type(error).__name__} at {' > '.join(places[-6:])}\"\n",
        "    return f\"{error!r} at {' > '.join(places[-6:])}\"\n",
        "tests/serving/test_answers.py::test_an_unforeseen_fault_is_an_internal_error_that_shows_nothing",
        "Exceptions repeat what they choke on, and that is often content.",
    ),
    Mutant(
        "a token in an error",
        "src/aop/serving/bearer.py",
        'raise Forbidden("unknown service token")',
        "raise Forbidden(bearer_token(request))",
        "tests/serving/test_refused_tokens.py::test_a_refused_token_is_in_no_record",
        "A mistyped token would be in the log of a unit, for whoever reads logs.",
    ),
    Mutant(
        "a stalled reader makes the heartbeat spin",
        "src/aop/serving/event_stream.py",
        "            self._last = now\n",
        "",
        "tests/faults/simulation/test_finds.py::test_a_reader_who_stalls_for_long_costs_a_few_comments_and_no_spinning",
        "One reader who stops reading would take a whole core.",
    ),
)

"""What the tokens of the conformance vectors say when nothing is wrong with them: header, root and child claims."""

import hashlib
from typing import Any

NOW = 1772442904
ISSUER = "https://router.example.com"
AUDIENCE = "https://agents.example.com"
KEY_ID = "router-1"
BODY = '{"jsonrpc":"2.0","id":"3","method":"tasks/cancel","params":{"id":"task-7"}}'

Members = dict[str, Any]

HEADER: Members = {"alg": "EdDSA", "typ": "platform-router+jwt", "kid": KEY_ID}
ROOT: Members = {
    "iss": ISSUER,
    "aud": [AUDIENCE],
    "iat": NOW - 5,
    "exp": NOW + 60,
    "jti": "jti_0190f5c2a7e17b2c9d8e7f6051423344",
    "workspaceId": "acme-travel",
    "agentId": "trip-planner",
    "agentVersion": "1.4.0-rc.1+build.7",
    "releaseId": "rel_0190f5c0113c7a219b8c7d6e5f403122",
    "cardDigest": hashlib.sha256(b"card").hexdigest(),
    "capability": "plan-trip",
    "invocationId": "inv_0190f5c2a7de7c4b8f1e2d3c4b5a6978",
    "rootTaskId": "task_0190f5c2a7de7c4c9a0b1c2d3e4f5061",
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    "bodySha256": hashlib.sha256(BODY.encode()).hexdigest(),
}
CHILD = ROOT | {"invocationId": "inv_0190f5c2a8117d108a2b3c4d5e6f7081", "parentInvocationId": ROOT["invocationId"]}

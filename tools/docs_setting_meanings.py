"""What each setting is for, in one line; the rules and defaults come from the readers."""

from collections.abc import Mapping

_BOTH = {
    "PLATFORM_INVOCATION_DEADLINE_MS": "Time limit of an Invocation; a Card's `timeoutMs` can only shorten it.",
    "PLATFORM_INVOCATION_REQUEST_MAX_BYTES": "Largest body of an invocation request.",
    "PLATFORM_SSE_FRAME_MAX_BYTES": "Largest frame of a stream that is sent.",
    "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": (
        "Private hosts where Agents may be, and public ones that may be reached over plain http. The same on all units."
    ),
    "PLATFORM_CA_FILE": (
        "Certificate authorities of your own, which the unit trusts beside the public ones where it calls by https:"
        " Agents, OpenID provider, other units ([certificates](../guides/certificates.md)). It is read at the start."
    ),
    "PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS": (
        "Time limit of a statement of a request, and of its wait for a lock. Connecting and waiting for a connection of"
        " the pool may take two and a half times as long."
    ),
    "PLATFORM_DATABASE_POOL_SIZE": "Maximum number of connections to PostgreSQL for requests, per unit; workers share"
    " them.",
    "PLATFORM_DRAIN_SECONDS": (
        "How long the unit still accepts new work after SIGTERM, while it is not ready. Longer than your balancer"
        " needs to notice that. `aop up` uses 0."
    ),
    "PLATFORM_SHUTDOWN_GRACE_SECONDS": "How long running work may then continue.",
    "PLATFORM_MAX_CONNECTIONS": "Maximum number of connections from callers, per unit; workers share them. At the limit"
    " the unit closes the connection that was idle longest; if none is idle, the oldest without a complete head or with"
    " a refused request; else it refuses the new one with OVERLOADED."
    " Default: the limit of open files minus one socket per call, the pool and 128 others, at most 10,000. With a"
    " number above the limit of open files the unit does not start.",
    "PLATFORM_LOG_LEVEL": "The lowest level of log records that are written.",
    "PLATFORM_CONTROL_PLANE_SOCKET": "A unix socket, `unix:/path`, for units on one machine: the Control Plane listens"
    " there too, and the Router sends its requests there in place of the Control Plane's origin. A unit with workers"
    " also listens at `/path.1`, `/path.2` and so on, one for each of them.",
    "PLATFORM_ROUTER_SOCKET": "The same the other way round: the Router listens there too, and the Control Plane sends"
    " its requests there.",
}
_CONTROL_PLANE = {
    "PLATFORM_LISTEN_ADDRESS": "Where the Control Plane listens.",
    "PLATFORM_DATABASE_URL": "The database, with a login of the group `aop_control_plane`. It may name several hosts.",
    "PLATFORM_ROUTER_INTERNAL_ORIGIN": "Where the Control Plane reaches a Router; not its own origin.",
    "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": "The service token that the Control Plane sends to the Router.",
    "PLATFORM_INTERNAL_PRINCIPALS_JSON": "The Routers that may call it, each with the SHA-256 of its token.",
    "PLATFORM_PUBLIC_AGENT_ORIGIN": "The origin of share links: the origin of the Console.",
    "PLATFORM_CORS_ALLOWED_ORIGINS": "Origins whose pages may call the Gateway, with commas between them.",
    "PLATFORM_CARD_MAX_BYTES": "Largest Agent Card that is registered.",
    "PLATFORM_REQUEST_MAX_BYTES": "Largest body of any other request.",
    "PLATFORM_METADATA_RESPONSE_MAX_BYTES": "Largest answer about Invocations that is accepted from the Router.",
    "PLATFORM_GATEWAY_RESULT_MAX_BYTES": "Largest result that is accepted from the Router.",
    "PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS": "Invocations at a time; more are OVERLOADED.",
    "PLATFORM_GATEWAY_MAX_IN_FLIGHT_REQUESTS": "All other requests at a time.",
    "PLATFORM_ENDPOINT_CHALLENGE_TTL_SECONDS": "How long a Challenge can be completed.",
    "PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS": "Time limit for fetching a proof; shorter than a Challenge is valid.",
    "PLATFORM_ACCESS_TOKEN_DAYS": "Lifetime of a new access token when none is named.",
    "PLATFORM_OIDC_ISSUER": "The issuer of signed access tokens that are accepted beside the platform's own.",
    "PLATFORM_OIDC_AUDIENCE": "The audience of these tokens.",
    "PLATFORM_OIDC_JWKS_URL": "Where the issuer's keys are.",
    "PLATFORM_OIDC_PRINCIPAL_CLAIM": "The claim that names the principal.",
    "PLATFORM_OIDC_PRINCIPAL_PREFIX": "The prefix of their principals; the platform's own tokens never have it.",
}
_ROUTER = {
    "PLATFORM_ROUTER_ID": (
        "The id of this Router: the same after every restart, and different for each Router."
        " With `--workers` it has no dot and at most 120 characters."
    ),
    "PLATFORM_ROUTER_LISTEN_ADDRESS": "Where the Router listens.",
    "PLATFORM_ROUTER_DATABASE_URL": "The database, with a login of the group `aop_router`. It may name several hosts.",
    "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN": "Where the Router reaches a Control Plane; not its own origin.",
    "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN": "The service token that the Router sends to the Control Plane.",
    "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON": "Control Planes that may call it, each with the SHA-256 of its token.",
    "PLATFORM_ROUTER_AGENT_ORIGIN": "Where Agents reach the Routers for nested calls; the same on all Routers.",
    "PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER": "The issuer that Agents trust; the same on all Routers.",
    "PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID": "The name of the signing key; the same on all Routers.",
    "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": (
        "The Ed25519 key that signs credentials, unpadded base64url; the same on all Routers. The key of delegations is"
        " derived from it."
    ),
    "PLATFORM_ROUTER_AGENT_CREDENTIAL_TTL_SECONDS": "How long a credential is valid.",
    "PLATFORM_ROUTER_CONTROL_PLANE_RESPONSE_LIMIT_BYTES": "Largest answer that is accepted from the Control Plane.",
    "PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES": "Largest answer, or whole stream, that is accepted from an Agent.",
    "PLATFORM_ROUTER_A2A_EVENT_LIMIT_BYTES": "Largest single event of an Agent's stream.",
    "PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS": "Time limit of a request to the Control Plane.",
    "PLATFORM_ROUTER_CONNECT_TIMEOUT_MS": "Time limit for connecting to an Agent.",
    "PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "Time limit of a write to the Ledger.",
    "PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS": "Root Invocations at a time; more are OVERLOADED.",
    "PLATFORM_ROUTER_SCHEMA_WORK_MS": (
        "Maximum processor time of one check of an input or output; more is refused with the reason `schema_work`."
    ),
    "PLATFORM_ROUTER_CARD_CACHE_BYTES": "Memory for Cards and their prepared schemas.",
    "PLATFORM_ROUTER_MAX_IN_FLIGHT_CHILDREN": "Nested calls at a time.",
}
_DOOR = {
    "PLATFORM_DOOR_LISTEN_ADDRESS": "Where the door listens.",
    "PLATFORM_DOOR_ORIGIN": "The door as callers reach it; agent cards show it. Default: http and the listen address.",
    "PLATFORM_DOOR_GATEWAY_ORIGIN": "The Gateway; the tokens of callers go there and nowhere else.",
    "PLATFORM_DOOR_ALLOWED_HOSTS": "What the Host header may be, with commas between them; all else is FORBIDDEN."
    " Default: the host and port of the door's origin and of its listen address; on loopback its other names, too.",
    "PLATFORM_DOOR_ALLOWED_ORIGINS": "Origins whose pages may use the door, with commas between them; a request"
    " without an Origin header is no page. Default: the door's own origin.",
    "PLATFORM_DOOR_MAX_IN_FLIGHT_CALLS": "Requests at a time, streams included; more are OVERLOADED.",
    "PLATFORM_DOOR_MAX_WATCHES": "Open connections that wait for changes of the list of tools, beside the calls.",
    "PLATFORM_DOOR_REQUEST_MAX_BYTES": "Largest body of a request.",
    "PLATFORM_DOOR_ANSWER_MAX_BYTES": "Largest answer, or event of a stream, that is accepted from the Gateway.",
}
_CONSOLE = {
    "PLATFORM_CONSOLE_LISTEN_ADDRESS": "Where the Console listens.",
    "VITE_PLATFORM_API_BASE_URL": "The Gateway as browsers reach it.",
    "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN": "The origin of share links; equal to the Control Plane's setting.",
    "VITE_PLATFORM_DOOR_ORIGIN": 'The door as callers reach it; without it, "Use it from…" offers the Gateway only.',
    "VITE_PLATFORM_OIDC_ISSUER": "The OpenID provider where people sign in: the issuer of the Control Plane's setting."
    " The Console asks its discovery document, and its origin joins the policy of the pages.",
    "VITE_PLATFORM_OIDC_CLIENT_ID": "The Console's id at the provider, as a public client with PKCE.",
    "VITE_PLATFORM_OIDC_SCOPE": "The scopes that the Console asks for.",
}
_AGENT = {
    "PLATFORM_AGENT_ROUTER_ISSUER": "The issuer to trust: the issuer of the Routers.",
    "PLATFORM_AGENT_ROUTER_AUDIENCE": "The origin of this Agent's endpoint, as in its Card.",
    "PLATFORM_AGENT_ROUTER_KEY_ID": "The name of the Routers' key.",
    "PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL": "The Routers' public key, unpadded base64url.",
    "PLATFORM_AGENT_REQUEST_MAX_BYTES": "Largest body that the guard reads.",
    "PLATFORM_AGENT_ROUTER_URL": "Where nested calls go.",
    "PLATFORM_AGENT_LISTEN_ADDRESS": "Where the Agent's own server listens.",
    "PLATFORM_AGENT_CHALLENGE_DIRECTORY": "The folder of proofs: file name = challenge id, content = proof.",
}
_TELEMETRY = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": "The collector of spans; `/v1/traces` is added. Unset: nothing is sent.",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "The only supported protocol.",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "Another address for traces, used unchanged.",
    "OTEL_TRACES_EXPORTER": "`none` sends no traces.",
    "OTEL_EXPORTER_OTLP_HEADERS": "Headers for the collector, values percent-encoded; they may hold its credential.",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "Milliseconds one export may take.",
    "OTEL_TRACES_SAMPLER": "Which Traces are sent.",
    "OTEL_TRACES_SAMPLER_ARG": "The share of them, for the two `traceidratio` samplers.",
    "OTEL_BSP_MAX_QUEUE_SIZE": "Maximum number of waiting spans; more are dropped and counted.",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "Spans in one export.",
    "OTEL_BSP_SCHEDULE_DELAY": "Milliseconds between exports of spans.",
    "OTEL_SERVICE_NAME": "The `service.name` of what is sent, instead of the unit's own.",
    "OTEL_RESOURCE_ATTRIBUTES": "Further attributes of everything that is sent.",
    "OTEL_SDK_DISABLED": "`true` sends nothing, whatever else is set.",
}
MEANINGS: Mapping[str, str] = {
    **_BOTH,
    **_CONTROL_PLANE,
    **_ROUTER,
    **_CONSOLE,
    **_DOOR,
    **_AGENT,
    **_TELEMETRY,
    "PLATFORM_MIGRATION_DATABASE_URL": "The database, with a login that is or can become a member of `aop_owner`.",
}

// Generated from contracts/ by `./dev console types`; change the contracts, not this file.

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** A token of the Gateway without its text, as its principal sees it. */
export type AccessToken = {
  readonly tokenId: TokenId
  /** A note of whoever made it, to recognise it by; empty for a session. */
  readonly label: string
  readonly createdAt: Timestamp
  /** From then on it is refused. */
  readonly expiresAt: Timestamp
  /** Of the last use, up to ten minutes early; absent before the first. */
  readonly lastUsedAt?: Timestamp
  /** Only in the answer of a revocation: when it was revoked first. */
  readonly revokedAt?: Timestamp
  /** Whether it is the token that this request presented. */
  readonly current: boolean
  readonly madeBy: AccessTokenMaker
  /** The token that it was made with, when revoking that one revokes it as well. */
  readonly endsWith?: TokenId
}

/** Body of the create call. */
export type AccessTokenCreateRequest = {
  /** A note to recognise it by, without control characters. */
  readonly label: string
  /** How long it lives. Left out, PLATFORM_ACCESS_TOKEN_DAYS. More than is allowed is cut; `expiresAt` says so. */
  readonly days?: number
}

/** A new token with its text, which is told only here. */
export type AccessTokenIssued = {
  readonly tokenId: TokenId
  /** A note of whoever made it, to recognise it by; empty for a session. */
  readonly label: string
  readonly createdAt: Timestamp
  /** From then on it is refused. */
  readonly expiresAt: Timestamp
  /** Whether it is the token that this request presented. */
  readonly current: boolean
  readonly madeBy: AccessTokenMaker
  /** The token that it was made with, when revoking that one revokes it as well. */
  readonly endsWith?: TokenId
  readonly token: AccessTokenText
}

/** operator: the operator's command on the store. openid: a caller with a token of the OpenID provider. token: a caller with another access token. code: a sign-in code, so it is a session. */
export type AccessTokenMaker = "operator" | "openid" | "token" | "code"

export type AccessTokenPage = {
  readonly items: ReadonlyArray<AccessToken>
  readonly nextCursor?: NextCursor
}

/** The token itself; it stands for its principal. */
export type AccessTokenText = string

/** Declares one exact version of an Agent: its endpoint, Skills, permissions and limits. Rules CARD-1 to CARD-6 apply on top of this document. */
export type AgentCard = {
  readonly schemaVersion: "0.2"
  readonly agentId: SafeIdentifier
  readonly name: AgentCardName
  readonly description: AgentCardDescription
  readonly owner: AgentCardOwner
  readonly version: AgentVersion
  readonly protocol: AgentCardProtocol
  readonly skills: AgentCardSkills
  readonly authentication: AgentCardAuthentication
  readonly permissions: AgentCardPermissions
  readonly limits: AgentCardLimits
}

/** Names the kind of authentication; a Card has no member for a secret. */
export type AgentCardAuthentication = {
  readonly type: AgentCardAuthenticationType
}

/** What the Agent asks of its caller; only http_bearer, the Router credential, can be invoked. */
export type AgentCardAuthenticationType = "none" | "api_key" | "http_bearer" | "oauth2_client_credentials" | "mutual_tls"

/** What the Agent is for. */
export type AgentCardDescription = string

/** Absolute http or https URI without user info; a Binding later refuses query and fragment. */
export type AgentCardEndpoint = string

/** Limits of one Invocation; the numbers are written as plain digits (CARD-4). */
export type AgentCardLimits = {
  readonly timeoutMs: number
  readonly maxInputBytes: number
  readonly maxOutputBytes: number
  /** Whether the Agent offers message/stream. */
  readonly streaming: boolean
}

/** Shown name. */
export type AgentCardName = string

/** The principal who registers the Card. */
export type AgentCardOwner = {
  readonly id: SafeIdentifier
  /** Shown name of the owner. */
  readonly displayName: string
}

/** A permission a Workspace may accept. */
export type AgentCardPermission = {
  readonly id: SafeIdentifier
  /** What accepting it allows. */
  readonly description: string
}

/** Permission ids are unique in the Card (CARD-2). */
export type AgentCardPermissions = ReadonlyArray<AgentCardPermission>

/** How the Agent is reached. */
export type AgentCardProtocol = {
  readonly type: "a2a"
  readonly version: "0.3.0"
  readonly transport: "JSONRPC"
  readonly endpoint: AgentCardEndpoint
}

/** One capability of the Agent. */
export type AgentCardSkill = {
  /** The capability. */
  readonly id: SafeIdentifier
  /** Shown name. */
  readonly name: string
  /** What the Skill does. */
  readonly description: string
  readonly inputSchema: AgentCardSkillSchema
  readonly outputSchema: AgentCardSkillSchema
  /** Ids declared in `permissions` of the same Card (CARD-3). */
  readonly requiredPermissions: ReadonlyArray<SafeIdentifier>
}

/** A JSON Schema 2020-12 document of the provider; rule CARD-6 says what it may hold. */
export type AgentCardSkillSchema = JsonObject

/** Skill ids are unique in the Card (CARD-1). */
export type AgentCardSkills = ReadonlyArray<AgentCardSkill>

/** What moving from one version of an Agent to another means for those who use its Skills: whether old inputs stay valid, and whether new outputs are valid for old readers. It looks at schemas only. */
export type AgentCompatibility = {
  readonly agentId: SafeIdentifier
  /** The old version. */
  readonly from: AgentVersion
  /** The new version. */
  readonly version: AgentVersion
  /** Each Skill that both versions have, in the order of the new version. */
  readonly skills: ReadonlyArray<AgentCompatibilitySkill>
}

/** `yes` is proved, `no` has an example, `not_decided` is neither. */
export type AgentCompatibilityAnswer = {
  readonly compatible: "yes" | "no" | "not_decided"
  /** A value that the one version accepts and the other refuses, made from the two schemas. Only with `no`. */
  readonly example?: unknown
}

export type AgentCompatibilitySkill = {
  readonly skillId: SafeIdentifier
  /** Whether the new version accepts every input that the old one accepts. */
  readonly inputs: AgentCompatibilityAnswer
  /** Whether the old version allows every output that the new one allows. */
  readonly outputs: AgentCompatibilityAnswer
}

/** One Agent with the versions the caller may see, newest first; one page of them. */
export type AgentOverview = {
  readonly agentId: SafeIdentifier
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  readonly versions: ReadonlyArray<CatalogEntry>
  /** What this Agent has in common with one that another owner used first; present only when there is something. Whoever is asked to trust the Agent is told so. */
  readonly resembles?: ReadonlyArray<AgentOverviewResemblance>
  /** Present only when more exists; opaque. */
  readonly nextCursor?: string
}

/** A prefix that another owner used first, or a name or id that looks like one of another owner's Agent. */
export type AgentOverviewResemblance = {
  readonly part: "prefix" | "name"
  /** The prefix, name or id of this Agent. */
  readonly text: string
  /** Who used it first. */
  readonly ownerId: SafeIdentifier
  /** With which Agent; absent when the prefix is the provider id of that owner. */
  readonly agentId?: SafeIdentifier
}

/** What this Agent has in common with one that another owner used first; present only when there is something. Whoever is asked to trust the Agent is told so. */
export type AgentOverviewResembles = ReadonlyArray<AgentOverviewResemblance>

/** A SemVer 2.0.0 version in full strictness, at most 128 characters. */
export type AgentVersion = string

/** What permitted an Invocation: the Installation and the Release as they were authorized. The created event of the Invocation has the SHA-256 of its RFC 8785 form as authorizationDigest. */
export type Authorization = {
  readonly installation: {
    readonly installationId: InstallationId
    readonly installedVersion: AgentVersion
    readonly installedReleaseId: ReleaseId
    /** In the order of the Installation. */
    readonly acceptedPermissions: ReadonlyArray<SafeIdentifier>
  }
  readonly release: {
    readonly releaseId: ReleaseId
    readonly cardDigest: Digest
    readonly endpointBindingId: BindingId
    readonly verificationMethod: "http_well_known"
    readonly verificationEvidenceDigest: Digest
    readonly publishedAt: Timestamp
  }
}

/** Identifies one Endpoint Binding. */
export type BindingId = string

/** Who issued an Invocation: a user for roots, an Agent for children; 'service' is reserved. */
export type Caller = {
  readonly type: "user" | "agent" | "service"
  readonly id: SafeIdentifier
}

export type CallerPage = {
  readonly items: ReadonlyArray<WorkspaceCaller>
  readonly nextCursor?: NextCursor
}

/** One registered Card version with its state, digest and Release. */
export type CatalogEntry = {
  readonly agentId: SafeIdentifier
  readonly version: AgentVersion
  readonly publicationStatus: CatalogEntryPublicationStatus
  /** SHA-256 of the Card's RFC 8785 bytes. */
  readonly cardDigest: Digest
  readonly registeredAt: Timestamp
  /** Set by the first publication and kept. */
  readonly publishedAt?: Timestamp
  readonly disabledAt?: Timestamp
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  readonly release: CatalogEntryRelease
  /** True when the Card and its Release are both published. */
  readonly installable: boolean
  readonly card: AgentCard
}

export type CatalogEntryPage = {
  readonly items: ReadonlyArray<CatalogEntry>
  readonly nextCursor?: NextCursor
}

/** Configured public origin, `/a/` and the public Agent id. */
export type CatalogEntryPublicUrl = string

/** State of a Card version. */
export type CatalogEntryPublicationStatus = "draft" | "published" | "disabled"

/** The Release of this version, or null when there is none. */
export type CatalogEntryRelease = {
  readonly releaseId: ReleaseId
  readonly state: ReleaseState
} | null

/** The one answer that holds a raw proof; it is given once and never stored. */
export type Challenge = {
  readonly challengeId: ChallengeId
  readonly bindingId: BindingId
  /** Binding origin and the proof path. */
  readonly challengeUrl: string
  /** 32 random bytes as lowercase hex; the Agent serves exactly this text. */
  readonly proof: string
  readonly expiresAt: Timestamp
}

/** Identifies one Challenge. */
export type ChallengeId = string

/** SHA-256 as 64 lowercase hex digits. */
export type Digest = string

/** One eligible published version as Discovery lists it; it never contains an endpoint. */
export type DiscoveryItem = {
  readonly agentId: SafeIdentifier
  readonly version: AgentVersion
  readonly publicationStatus: "published"
  /** SHA-256 of the Card's RFC 8785 bytes. */
  readonly cardDigest: Digest
  readonly registeredAt: Timestamp
  /** Set by the first publication and kept. */
  readonly publishedAt: Timestamp
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  readonly release: CatalogEntryRelease
  /** True when the Card and its Release are both published. */
  readonly installable: boolean
  readonly name: AgentCardName
  readonly description: AgentCardDescription
  readonly owner: AgentCardOwner
  readonly skills: AgentCardSkills
  readonly permissions: AgentCardPermissions
  readonly limits: AgentCardLimits
  readonly authenticationType: AgentCardAuthenticationType
}

export type DiscoveryPage = {
  readonly items: ReadonlyArray<DiscoveryItem>
  readonly nextCursor?: NextCursor
}

/** Ties one exact Card version to the endpoint its provider has to prove. */
export type EndpointBinding = {
  readonly bindingId: BindingId
  readonly providerId: SafeIdentifier
  readonly agentId: SafeIdentifier
  readonly version: AgentVersion
  readonly endpoint: EndpointBindingEndpoint
  readonly method: EndpointBindingMethod
  readonly verificationStatus: EndpointBindingVerificationStatus
  readonly verificationFailureCode?: EndpointBindingVerificationFailureCode
  /** SHA-256 of the evidence record's RFC 8785 bytes. */
  readonly verificationEvidenceDigest?: Digest
  readonly verifiedAt?: Timestamp
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** Body of the create call. */
export type EndpointBindingCreateRequest = {
  /** The Card's endpoint; text that is not one is INVALID_ENDPOINT. */
  readonly endpoint: string
  readonly method: EndpointBindingMethod
  readonly version: AgentVersion
}

/** Canonical endpoint. */
export type EndpointBindingEndpoint = string

/** How control of the endpoint is proved. */
export type EndpointBindingMethod = "http_well_known"

/** Canonical origin: scheme, host and a port that is not the default. */
export type EndpointBindingOrigin = string

export type EndpointBindingPage = {
  readonly items: ReadonlyArray<EndpointBinding>
  readonly nextCursor?: NextCursor
}

/** Why the last completion failed. */
export type EndpointBindingVerificationFailureCode = "wrong_proof" | "challenge_expired" | "disallowed_network" | "endpoint_unavailable" | "redirect_not_allowed"

/** Where the proof stands. */
export type EndpointBindingVerificationStatus = "pending" | "verified" | "failed"

/** Identifies one Ledger event. */
export type EventId = string

/** Events of one Workspace after a position, in the order of the Ledger's sequence. Nothing ever appears before a position that was given out. */
export type EventPage = {
  /** Empty if there is nothing after the position yet. */
  readonly items: ReadonlyArray<InvocationCloudEvent>
  /** The position after the last item, for the next read; without items the position of this read. Opaque. */
  readonly after: string
}

/** Counts and latencies of the Invocations of a Workspace that were created in a window, in total and step by step. An Invocation belongs to the step of its createdAt, however late it ends. Each count is what the list of Invocations counts with the same window and the filters that the count names. */
export type Figures = {
  readonly workspaceId: SafeIdentifier
  readonly since: FiguresMinute
  /** The window ends before it. */
  readonly until: FiguresMinute
  readonly step: FiguresStep
  /** How far p50, p90 and p99 may be from the exact value, as a part of it. They come from fixed logarithmic buckets; max is exact. */
  readonly latencyError: 0.02
  /** How many Agents and Skills with calls in the window have no entry of their own in the total, because it names the 200 with most calls. */
  readonly leftOut: {
    readonly agents: FiguresCount
    readonly skills: FiguresCount
  }
  readonly total: {
    readonly counts: FiguresCounts
    readonly latency?: FiguresLatency
    readonly agents: FiguresAgents
    readonly otherAgents?: FiguresOthers
    readonly skills: FiguresSkills
    readonly otherSkills?: FiguresOthers
    readonly errors: FiguresErrors
  }
  /** Every step of the window, in order, also those without calls. The last one ends with the window. */
  readonly buckets: ReadonlyArray<FiguresBucket>
}

/** The most calls first, then by agentId. The list with this agentId counts the same. */
export type FiguresAgents = ReadonlyArray<{
  readonly agentId: SafeIdentifier
  readonly counts: FiguresCounts
}>

/** One step. Its entries are, of the ten Agents and the ten Skills with most calls in the window, those that were called in it. */
export type FiguresBucket = {
  readonly start: FiguresMinute
  readonly counts: FiguresCounts
  readonly latency?: FiguresLatency
  readonly agents: FiguresAgents
  readonly otherAgents?: FiguresOthers
  readonly skills: FiguresSkills
  readonly otherSkills?: FiguresOthers
  readonly errors: FiguresErrors
}

export type FiguresCount = number

/** All Invocations, and the same by outcome. `running` ones have not ended. */
export type FiguresCounts = {
  readonly calls: FiguresCount
  readonly running: FiguresCount
  readonly succeeded: FiguresCount
  readonly failed: FiguresCount
  readonly canceled: FiguresCount
  readonly timedOut: FiguresCount
}

/** The most calls first, then by code. Calls of a code that no reason has are the rest. */
export type FiguresErrors = ReadonlyArray<{
  readonly code: InvocationRecordErrorCode
  readonly calls: FiguresCount
  readonly reasons: ReadonlyArray<{
    readonly reason: PlatformErrorReason
    readonly calls: FiguresCount
  }>
}>

/** Of all Invocations that ended, however they did. Left out while none did. */
export type FiguresLatency = {
  readonly p50: FiguresMilliseconds
  readonly p90: FiguresMilliseconds
  readonly p99: FiguresMilliseconds
  readonly max: FiguresMilliseconds
}

export type FiguresMilliseconds = number

/** An instant in UTC at the begin of a minute. */
export type FiguresMinute = string

/** All that have no entry of their own here. Left out when there are none. */
export type FiguresOthers = FiguresCounts

/** The most calls first, then by agentId and capability. The list with this agentId and capability counts the same. */
export type FiguresSkills = ReadonlyArray<{
  readonly agentId: SafeIdentifier
  readonly capability: SafeIdentifier
  readonly counts: FiguresCounts
}>

/** Seconds of a bucket: whole minutes, up to a day. */
export type FiguresStep = number

/** Answer of the Gateway's status read. */
export type HealthPlatformStatus = {
  readonly controlPlane: HealthStatus
  /** `ok` when a Router answers. Behind a balancer this says nothing of the others. Whether it is ready is in `routers`. */
  readonly router: HealthStatus
  /** What the Router that answered says of its topology watch, or `unavailable` when none could be asked. */
  readonly topology: "initializing" | "live" | "lost" | "unavailable"
  /** The Routers that answered. Behind a balancer it is one of them, and another one may answer the next time: `instanceId` tells them apart. */
  readonly routers?: ReadonlyArray<HealthRouter>
  /** The newest head of the tree over the Ledger, as far as a Router knows it. Whoever keeps one can see later whether anything before it was changed. */
  readonly ledgerHead?: LedgerHead
}

/** One Router, at most half a second ago. One that could not be asked has only its status. */
export type HealthRouter = {
  /** `not_ready`: it answers, but its readiness check fails. `unavailable`: it gave no usable answer within 2 s. */
  readonly status: "ok" | "not_ready" | "unavailable"
  readonly instanceId?: RouterStatusInstanceId
  readonly topology?: RouterStatusTopology
  readonly schemaWork?: RouterStatusSchemaWork
  readonly facts?: RouterStatusFacts
  readonly sequence?: RouterStatusSequence
}

export type HealthStatus = "ok" | "unavailable"

/** Asks for an Agent in a Workspace and accepts permissions explicitly. The permissions are always given in full, also when it replaces an Installation. */
export type InstallRequest = {
  readonly agentId: SafeIdentifier
  /** SemVer range; text that is blank or not a range breaks rule constraint_syntax. */
  readonly versionConstraint: string
  /** May be empty; each id is declared by the chosen Card (rule permission_undeclared). */
  readonly acceptedPermissions: ReadonlyArray<SafeIdentifier>
  /** The enabled Installation of this Agent, in this Workspace, that the new one takes the place of in one step. One of another Agent breaks rule replaces. */
  readonly replaces?: SafeIdentifier
}

/** One Agent installed into one Workspace, pinned to an exact Release. */
export type Installation = {
  readonly installationId: InstallationId
  readonly workspaceId: SafeIdentifier
  readonly agentId: SafeIdentifier
  /** The range as submitted. */
  readonly versionConstraint: string
  readonly installedVersion: AgentVersion
  readonly installedReleaseId: ReleaseId
  /** Unique; sorted ascending bytewise. */
  readonly acceptedPermissions: ReadonlyArray<SafeIdentifier>
  readonly status: InstallationStatus
  readonly installedAt: Timestamp
  readonly updatedAt: Timestamp
  /** Equals updatedAt. */
  readonly uninstalledAt?: Timestamp
  /** The Installation that took its place in the same step. */
  readonly replacedBy?: InstallationId
}

/** Unique; sorted ascending bytewise. */
export type InstallationAcceptedPermissions = ReadonlyArray<SafeIdentifier>

/** Identifies one Installation. */
export type InstallationId = string

/** An Installation as a list shows it, with what its pinned Card says of the Agent in short. */
export type InstallationItem = {
  readonly installationId: InstallationId
  readonly workspaceId: SafeIdentifier
  readonly agentId: SafeIdentifier
  readonly versionConstraint: InstallationVersionConstraint
  readonly installedVersion: AgentVersion
  readonly installedReleaseId: ReleaseId
  readonly acceptedPermissions: InstallationAcceptedPermissions
  readonly status: InstallationStatus
  readonly installedAt: Timestamp
  readonly updatedAt: Timestamp
  /** Equals updatedAt. */
  readonly uninstalledAt?: Timestamp
  /** The Installation that took its place in the same step. */
  readonly replacedBy?: InstallationId
  readonly agentName: AgentCardName
  readonly limits: AgentCardLimits
  /** Every Skill of the pinned Card, in its order. */
  readonly skills: ReadonlyArray<InstallationItemSkill>
  /** Why every call is refused now because of the pinned version, whatever the Installation's own state; absent when none is. */
  readonly refusedWith?: "AGENT_RELEASE_UNPUBLISHED" | "AGENT_RELEASE_SUSPENDED" | "AGENT_RELEASE_REVOKED" | "AGENT_DISABLED"
  /** The highest installable version above the pinned one, among the 50 highest; a pre-release only when the pinned version is one. */
  readonly newerVersion?: AgentVersion
  /** What the Agent has in common with one that another owner used first, as in its overview; present only when there is something. */
  readonly resembles?: AgentOverviewResembles
}

/** One Skill, and whether calls of it are permitted. */
export type InstallationItemSkill = {
  /** The capability. */
  readonly id: SafeIdentifier
  readonly name: AgentCardName
  /** Whether the Workspace accepted every permission that the Skill needs. */
  readonly permissionsAccepted: boolean
}

export type InstallationPage = {
  readonly items: ReadonlyArray<InstallationItem>
  readonly nextCursor?: NextCursor
}

/** `uninstalled` records are history. */
export type InstallationStatus = "enabled" | "disabled" | "uninstalled"

/** Enables or disables an Installation. */
export type InstallationUpdate = {
  readonly status: "enabled" | "disabled"
}

/** The range as submitted. */
export type InstallationVersionConstraint = string

/** An Invocation Event in the envelope of CloudEvents 1.0 (JSON format). The envelope repeats facts of its data and adds none. `source` and `id` together are its permanent name. */
export type InvocationCloudEvent = {
  readonly specversion: "1.0"
  /** The eventId. */
  readonly id: EventId
  /** The Workspace, as the path of its read at the Gateway. */
  readonly source: string
  /** `aop.invocation.` and the type of the event. */
  readonly type: "aop.invocation.created" | "aop.invocation.routing" | "aop.invocation.started" | "aop.invocation.stream" | "aop.invocation.succeeded" | "aop.invocation.failed" | "aop.invocation.canceled" | "aop.invocation.timed_out"
  /** The Invocation. */
  readonly subject: InvocationId
  /** When it occurred. */
  readonly time: Timestamp
  readonly datacontenttype: "application/json"
  readonly dataschema: "urn:aop:contract:invocation-event:0.3"
  readonly data: InvocationEvent
}

/** One Invocation and all its events by sequence; the record equals the last event. */
export type InvocationDetail = {
  readonly invocation: InvocationRecord
  readonly events: ReadonlyArray<InvocationEvent>
}

/** One append-only Ledger fact; holds ids, codes, numbers and times, never input, output, credential or endpoint. */
export type InvocationEvent = {
  readonly schemaVersion: "0.3"
  readonly eventId: EventId
  /** From 0, without gap. */
  readonly sequence: number
  /** Never before the event it follows. */
  readonly occurredAt: Timestamp
  readonly type: "created" | "routing" | "started" | "stream" | "succeeded" | "failed" | "canceled" | "timed_out"
  readonly status: "pending" | "routing" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
  readonly traceId: TraceId
  /** Children only: the Invocation the call was made from. */
  readonly parentInvocationId?: InvocationId
  readonly caller: Caller
  readonly workspaceId: SafeIdentifier
  readonly targetAgentId: SafeIdentifier
  readonly agentCardVersion: AgentVersion
  readonly agentReleaseId: ReleaseId
  readonly agentCardDigest: Digest
  readonly capability: SafeIdentifier
  /** created only: SHA-256 of the RFC 8785 form of the authorization that contracts/ledger-leaf describes. */
  readonly authorizationDigest?: Digest
  /** created only. */
  readonly deadlineAt?: Timestamp
  /** stream only: the last chunk covered. */
  readonly chunkIndex?: number
  /** stream only: chunks since the previous stream event. */
  readonly chunkCount?: number
  /** stream only: JSON bytes of those chunks. */
  readonly chunkBytes?: number
  /** Terminal only: whole milliseconds since created. */
  readonly latencyMs?: number
  /** Its three ids equal the outer ones. */
  readonly error?: PlatformErrorCorrelated
}

/** Identifies one Invocation. */
export type InvocationId = string

export type InvocationPage = {
  readonly items: ReadonlyArray<InvocationRecord>
  readonly nextCursor?: SearchCursor
}

/** The read projection of one Invocation: its context and its last event. */
export type InvocationRecord = {
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
  /** Children only: the Invocation the call was made from. */
  readonly parentInvocationId?: InvocationId
  readonly traceId: TraceId
  readonly caller: Caller
  readonly workspaceId: SafeIdentifier
  readonly targetAgentId: SafeIdentifier
  readonly agentCardVersion: AgentVersion
  readonly agentReleaseId: ReleaseId
  readonly agentCardDigest: Digest
  readonly capability: SafeIdentifier
  readonly status: "pending" | "routing" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"
  /** Terminal only. */
  readonly latencyMs?: number
  /** failed, canceled and timed_out only. */
  readonly errorCode?: "AGENT_AUTH_UNSUPPORTED" | "AGENT_RESPONSE_TOO_LARGE" | "AGENT_EXECUTION_FAILED" | "A2A_PROTOCOL_ERROR" | "ROUTE_NOT_FOUND" | "AGENT_UNAVAILABLE" | "DEPENDENCY_ERROR" | "INTERNAL_ERROR" | "CANCELED" | "TIMEOUT"
  /** Only beside an errorCode that reasons.json gives it. */
  readonly reason?: PlatformErrorReason
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly deadlineAt: Timestamp
}

/** failed, canceled and timed_out only. */
export type InvocationRecordErrorCode = "AGENT_AUTH_UNSUPPORTED" | "AGENT_RESPONSE_TOO_LARGE" | "AGENT_EXECUTION_FAILED" | "A2A_PROTOCOL_ERROR" | "ROUTE_NOT_FOUND" | "AGENT_UNAVAILABLE" | "DEPENDENCY_ERROR" | "INTERNAL_ERROR" | "CANCELED" | "TIMEOUT"

export type InvocationRecordStatus = "pending" | "routing" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"

/** Body of POST /v1/workspaces/:workspaceId/invocations. */
export type InvocationRequest = {
  readonly agentId: SafeIdentifier
  /** The id of a Skill of the installed Agent. */
  readonly capability: SafeIdentifier
  /** Free: judged against the Skill's inputSchema; its bytes reach the Agent unchanged, an object as a data part, a string as a text part. */
  readonly input: JsonObject | string
  /** Selects the result mode; Accept must allow it. */
  readonly stream: boolean
}

/** The one JSON answer of a succeeded Invocation; failures are Platform Errors. */
export type InvocationResult = {
  readonly schemaVersion: "1"
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
  readonly traceId: TraceId
  readonly status: "succeeded"
  /** Free, null included: what the Agent returned, within the Skill's outputSchema. */
  readonly result: unknown
}

/** One event of a result stream: accepted once and first, then chunks, then exactly one terminal. */
export type InvocationStreamEvent = {
  readonly schemaVersion: "2"
  /** From 0, without gap. */
  readonly sequence: number
  readonly type: "accepted" | "chunk" | "completed" | "failed" | "canceled" | "timed_out"
  readonly status: "pending" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
  readonly traceId: TraceId
  /** From 0, without gap. */
  readonly chunkIndex?: number
  /** Free: one piece of output, within the Skill's outputSchema. */
  readonly chunk?: unknown
  /** Its three ids equal the outer ones. */
  readonly error?: PlatformErrorCorrelated
}

/** What others need to check an Invocation or a Trace offline: its events with proofs, what permitted each call, and the Cards. It holds nothing else. */
export type LedgerBundle = {
  readonly schemaVersion: "1"
  readonly invocationId?: InvocationId
  readonly traceId?: TraceId
  readonly head: LedgerHead
  /** By the number of their first events. */
  readonly invocations: ReadonlyArray<LedgerBundleInvocation>
}

export type LedgerBundleInvocation = {
  /** Its RFC 8785 form has the digest of the first leaf; left out where that has none. */
  readonly authorization?: Authorization
  /** The canonical bytes of the Card as base64, also of one that was disabled later. */
  readonly card: string
  /** All events of the Invocation, by sequence. */
  readonly leaves: ReadonlyArray<LedgerProofLeaf>
}

/** A part of a Ledger bundle of any size. The Invocations of all pages, each with all its events, and the head make one bundle. */
export type LedgerBundlePage = {
  readonly head: LedgerHead
  /** By the number of their first events. */
  readonly invocations: ReadonlyArray<LedgerBundlePageInvocation>
  /** Of the next page; left out on the last one. */
  readonly nextCursor?: string
}

export type LedgerBundlePageInvocation = {
  /** Its RFC 8785 form has the digest of the first leaf; left out where that has none. */
  readonly authorization?: Authorization
  /** Left out where the Invocation goes on from the page before. The canonical bytes of the Card as base64, also of one that was disabled later. */
  readonly card?: string
  /** Events of the Invocation, by sequence. The first goes on where the page before ended, if that page has a part of this Invocation. */
  readonly leaves: ReadonlyArray<LedgerProofLeaf>
}

/** The root of the tree (RFC 6962) over the first events of the Ledger. Whoever keeps one can see later whether anything before it was changed. */
export type LedgerHead = {
  /** How many leaves. */
  readonly size: number
  readonly root: Digest
}

/** An Invocation Event as a leaf of the Ledger's tree: the event without the message of its error. Its bytes are the RFC 8785 form. They never change once a row is written: a member that a later version adds stands only in leaves of rows that have it. */
export type LedgerLeaf = {
  readonly schemaVersion: "0.3"
  readonly eventId: EventId
  /** From 0, without gap. */
  readonly sequence: number
  /** Never before the event it follows. */
  readonly occurredAt: Timestamp
  readonly type: "created" | "routing" | "started" | "stream" | "succeeded" | "failed" | "canceled" | "timed_out"
  readonly status: "pending" | "routing" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
  readonly traceId: TraceId
  /** Children only: the Invocation the call was made from. */
  readonly parentInvocationId?: InvocationId
  readonly caller: Caller
  readonly workspaceId: SafeIdentifier
  readonly targetAgentId: SafeIdentifier
  readonly agentCardVersion: AgentVersion
  readonly agentReleaseId: ReleaseId
  readonly agentCardDigest: Digest
  readonly capability: SafeIdentifier
  /** created only: SHA-256 of the RFC 8785 form of the authorization that contracts/ledger-leaf describes. */
  readonly authorizationDigest?: Digest
  /** created only. */
  readonly deadlineAt?: Timestamp
  /** stream only: the last chunk covered. */
  readonly chunkIndex?: number
  /** stream only: chunks since the previous stream event. */
  readonly chunkCount?: number
  /** stream only: JSON bytes of those chunks. */
  readonly chunkBytes?: number
  /** Terminal only: whole milliseconds since created. */
  readonly latencyMs?: number
  /** Its three ids equal the outer ones. */
  readonly error?: LedgerLeafError
}

/** Platform Error 4 without its message, which may be worded anew. */
export type LedgerLeafError = {
  readonly code: PlatformErrorCodeAfterAcceptance
  readonly reason?: PlatformErrorReason
  readonly traceId: TraceId
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
}

export type LedgerProofLeaf = {
  /** Of the event in the Ledger's sequence, from 0. */
  readonly number: number
  readonly leaf: LedgerLeaf
  /** Hashes beside the way to the root, from below. */
  readonly path: ReadonlyArray<Digest>
}

/** Only when more exists; opaque. */
export type NextCursor = string

/** An Agent as its owner's list shows it: all its versions with their states, its provider and its newest Release. */
export type OwnedAgent = {
  readonly agentId: SafeIdentifier
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  /** Name in the Card of the version registered last. */
  readonly name: string
  /** The provider that the Agent belongs to; absent while it has none. */
  readonly providerId?: SafeIdentifier
  /** Number of versions in each state. */
  readonly versionCounts: {
    readonly draft: OwnedAgentCount
    readonly published: OwnedAgentCount
    readonly disabled: OwnedAgentCount
  }
  /** Newest registeredAt first, then version descending bytewise. Of more than 1,000 versions the newest; `GET /v1/agents/:agentId` lists the others. */
  readonly versions: ReadonlyArray<OwnedAgentVersion>
  readonly newestRelease: OwnedAgentNewestRelease
}

export type OwnedAgentCount = number

/** The Release created last, or null when there is none. */
export type OwnedAgentNewestRelease = {
  readonly releaseId: ReleaseId
  readonly version: AgentVersion
  readonly state: ReleaseState
  readonly createdAt: Timestamp
  readonly publishedAt?: Timestamp
} | null

export type OwnedAgentPage = {
  readonly items: ReadonlyArray<OwnedAgent>
  readonly nextCursor?: NextCursor
}

/** One version with its state and its Release. */
export type OwnedAgentVersion = {
  readonly version: AgentVersion
  readonly publicationStatus: CatalogEntryPublicationStatus
  readonly registeredAt: Timestamp
  readonly publishedAt?: Timestamp
  readonly disabledAt?: Timestamp
  readonly release: CatalogEntryRelease
  /** True when the Card and its Release are both published. */
  readonly installable: boolean
}

/** A refusal or failure on the invocation surfaces: before acceptance without Invocation ids, after acceptance with both. */
export type PlatformError = {
  readonly code: PlatformErrorCode
  /** The fixed message of the code, as codes.json gives it. */
  readonly message: string
  readonly reason?: PlatformErrorReason
  readonly traceId: TraceId
  /** Present only with VALIDATION_ERROR. */
  readonly violations?: ReadonlyArray<PlatformErrorViolation>
  readonly invocationId?: InvocationId
  readonly rootTaskId?: RootTaskId
}

/** The codes of this envelope. */
export type PlatformErrorCode = "VALIDATION_ERROR" | "UNAUTHENTICATED" | "FORBIDDEN" | "CAPABILITY_NOT_ALLOWED" | "NOT_FOUND" | "AGENT_NOT_INSTALLED" | "NOT_ACCEPTABLE" | "CONFLICT" | "CANCELED" | "INSTALLATION_DISABLED" | "AGENT_DISABLED" | "AGENT_RELEASE_UNPUBLISHED" | "AGENT_RELEASE_SUSPENDED" | "AGENT_RELEASE_REVOKED" | "PAYLOAD_TOO_LARGE" | "INTERNAL_ERROR" | "AGENT_AUTH_UNSUPPORTED" | "AGENT_RESPONSE_TOO_LARGE" | "AGENT_EXECUTION_FAILED" | "A2A_PROTOCOL_ERROR" | "ROUTE_NOT_FOUND" | "AGENT_UNAVAILABLE" | "DEPENDENCY_ERROR" | "OVERLOADED" | "TIMEOUT"

/** Codes of a failure that belongs to a recorded Invocation. */
export type PlatformErrorCodeAfterAcceptance = "CANCELED" | "INTERNAL_ERROR" | "AGENT_AUTH_UNSUPPORTED" | "AGENT_RESPONSE_TOO_LARGE" | "AGENT_EXECUTION_FAILED" | "A2A_PROTOCOL_ERROR" | "ROUTE_NOT_FOUND" | "AGENT_UNAVAILABLE" | "DEPENDENCY_ERROR" | "TIMEOUT"

/** The form after acceptance: Trace, Invocation and root Task together. */
export type PlatformErrorCorrelated = {
  readonly code: PlatformErrorCodeAfterAcceptance
  /** The fixed message of the code, as codes.json gives it. */
  readonly message: string
  readonly reason?: PlatformErrorReason
  readonly traceId: TraceId
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
}

/** Why, in one word of the closed list reasons.json; never anything taken from a payload, an Agent or a dependency. */
export type PlatformErrorReason = "name_not_resolved" | "connect_failed" | "tls_failed" | "transfer_broken" | "http_redirect" | "http_auth" | "http_client_error" | "http_server_error" | "http_other_success" | "address_refused" | "streaming_not_declared" | "task_failed" | "task_rejected" | "input_required" | "auth_required" | "rpc_error" | "rpc_method_not_found" | "rpc_version_not_supported" | "media_type" | "not_json" | "rpc_envelope" | "message_shape" | "task_shape" | "task_changed" | "task_state_unknown" | "stream_order" | "artifact_order" | "artifact_replaced" | "stream_ended_early" | "output_schema" | "head_size" | "body_size" | "event_size" | "frame_size" | "schema_work" | "input_size" | "acceptance_unknown" | "router_unreachable" | "store_unavailable" | "outcome_unknown" | "router_restarted" | "control_plane_unreachable" | "already_installed" | "already_exists" | "state_changed" | "parent_not_running" | "not_numbered_yet" | "installation_state" | "caller_is_owner" | "caller_limit" | "card_state" | "binding_verified" | "binding_failed" | "binding_not_verified" | "binding_evidence_changed" | "release_state" | "agent_of_other_provider" | "token_limit" | "token_of_openid_provider" | "workspace_unknown" | "agent_unknown" | "version_unknown" | "version_range_empty" | "provider_unknown" | "binding_unknown" | "challenge_unknown" | "release_unknown" | "installation_unknown" | "caller_unknown" | "invocation_unknown" | "trace_unknown" | "token_unknown" | "archived" | "not_installed" | "skill_unknown" | "permission_not_accepted" | "not_owner" | "not_caller" | "depth_limit" | "fan_out_limit" | "sign_in_code"

/** Where a request breaks the contract and by which rule; never a value. */
export type PlatformErrorViolation = {
  /** JSON Pointer into the body ('' is the whole body), or '/' and a parameter name. Holds array indices and declared member names only. */
  readonly pointer: string
  /** The JSON Schema keyword or the named rule that was broken. */
  readonly rule: string
}

/** Whom the presented token stands for. */
export type Principal = {
  readonly principalId: SafeIdentifier
}

/** The stable public id of an Agent; it never changes. */
export type PublicAgentId = string

/** What anyone may read of an Agent: its canonical public URL and its eligible published Releases. */
export type PublicAgentShare = {
  readonly schemaVersion: "1"
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  /** `installable` when the Agent shares any Release, on this page or another. */
  readonly availability: "installable" | "not_installable"
  /** One page, newest first. */
  readonly releases: ReadonlyArray<PublicAgentShareRelease>
  /** Present only when more exists; opaque. */
  readonly nextCursor?: string
}

/** One Release anyone may choose; never an endpoint, Binding, evidence, provider or Workspace fact. */
export type PublicAgentShareRelease = {
  readonly releaseId: ReleaseId
  readonly agentId: SafeIdentifier
  readonly version: AgentVersion
  readonly cardDigest: Digest
  /** When the Release was published. */
  readonly publishedAt: Timestamp
  readonly name: AgentCardName
  readonly description: AgentCardDescription
  readonly owner: AgentCardOwner
  readonly authenticationType: AgentCardAuthenticationType
  readonly skills: AgentCardSkills
  readonly permissions: AgentCardPermissions
  readonly limits: AgentCardLimits
}

/** The immutable record of one published Agent version with its Card digest, Binding and evidence. */
export type Release = {
  readonly releaseId: ReleaseId
  readonly providerId: SafeIdentifier
  readonly agentId: SafeIdentifier
  readonly version: AgentVersion
  readonly cardDigest: Digest
  readonly endpointBindingId: BindingId
  readonly endpointOrigin: EndpointBindingOrigin
  /** Path of the canonical endpoint. */
  readonly endpointPath: string
  readonly verificationMethod: EndpointBindingMethod
  /** Copied from the Binding once verified. */
  readonly verificationEvidenceDigest?: Digest
  readonly state: ReleaseState
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly verifiedAt?: Timestamp
  readonly publishedAt?: Timestamp
  readonly suspendedAt?: Timestamp
  readonly suspendedBy?: ReleaseSuspendedBy
  readonly revokedAt?: Timestamp
}

/** Body of the create call. */
export type ReleaseCreateRequest = {
  readonly version: AgentVersion
  /** A Binding of this provider; an unknown one is 404. */
  readonly endpointBindingId: SafeIdentifier
}

/** Identifies one Release. */
export type ReleaseId = string

/** What the Router behind the Control Plane's destination knows of a Release. With several workers, the least advanced one answers. */
export type ReleaseObservation = {
  readonly releaseId: ReleaseId
  /** The state of the Router's topology watch. */
  readonly source: "initializing" | "live" | "lost"
  /** Absent while the Router knows nothing of the Release. */
  readonly state?: TopologyEventState
  /** When the Router learned of this state, by its own clock. */
  readonly observedAt?: Timestamp
}

export type ReleasePage = {
  readonly items: ReadonlyArray<Release>
  readonly nextCursor?: NextCursor
}

/** What depends on a Release: counts only. It names no Workspace, caller or Invocation. */
export type ReleaseReach = {
  readonly releaseId: ReleaseId
  /** Workspaces with a current Installation of it. */
  readonly workspaces: ReleaseReachCount
  readonly enabledInstallations: ReleaseReachCount
  readonly disabledInstallations: ReleaseReachCount
  readonly callsLastHour: ReleaseReachCallsLastHour
  readonly callsLastDay: ReleaseReachCallsLastDay
  readonly running: ReleaseReachRunning
}

/** The same for 1,440 minutes. */
export type ReleaseReachCallsLastDay = ReleaseReachCount

/** Invocations of it, nested ones included, that were created since the minute that is 60 minutes ago began. */
export type ReleaseReachCallsLastHour = ReleaseReachCount

export type ReleaseReachCount = number

/** Invocations of it that have not ended, whenever they were created. */
export type ReleaseReachRunning = ReleaseReachCount

/** `draft` is reserved and not produced; `revoked` is final. */
export type ReleaseState = "draft" | "pending_verification" | "verified" | "published" | "suspended" | "revoked"

/** Who suspended it: its provider, or the operator of the platform with access to the store. */
export type ReleaseSuspendedBy = "provider" | "operator"

/** Identifies the root Task of a lineage. */
export type RootTaskId = string

export type RouterStatusCount = number

/** Facts that the Ledger does not have yet. All counts are 0 while its database answers. */
export type RouterStatusFacts = {
  /** Acceptances for which it is not known whether the Ledger has them. */
  readonly unconfirmed: RouterStatusCount
  /** Invocations that ended, but whose end is not written yet. */
  readonly deferred: RouterStatusCount
  /** Invocations whose end the Ledger refused. The next start of the Router ends them. */
  readonly denied: RouterStatusCount
  /** How long the oldest unconfirmed or deferred one has waited. Absent when there is none. */
  readonly oldestMs?: RouterStatusMilliseconds
}

/** Made at random at each start of a Router. It tells Routers apart and says nothing about where they run. */
export type RouterStatusInstanceId = string

export type RouterStatusMilliseconds = number

/** Checks of values and Cards that run in processes of their own, because they may take long. */
export type RouterStatusSchemaWork = {
  /** How many checks can run at the same time. */
  readonly processes: number
  readonly running: RouterStatusCount
  /** Checks whose turn has not come. */
  readonly waiting: RouterStatusCount
}

/** Only of the one Router that gives the events of the Ledger their numbers. */
export type RouterStatusSequence = {
  /** Time since it last had a number for every event that it had found; usually below 2 s. */
  readonly lagMs: RouterStatusMilliseconds
}

/** The Router's watch over the states of Releases. */
export type RouterStatusTopology = {
  readonly state: "initializing" | "live" | "lost"
  /** When this state began, by the Router's clock. */
  readonly since: Timestamp
  /** Time since the last message of the watch. A message comes at least every 5 s, and from 15 s on the watch is lost. Absent before the first one. */
  readonly ageMs?: RouterStatusMilliseconds
}

/** 1 to 128 ASCII characters: a letter or digit, then letters, digits, '.', '_', ':' or '-'. Compared exactly. */
export type SafeIdentifier = string

/** Opaque. Present when more exists, and when a search ended early because it had read many Invocations: the page then has fewer items than its limit, perhaps none, and the search goes on here. */
export type SearchCursor = string

/** Signs in once, as the principal that it was made for, within ten minutes. */
export type SignInCode = {
  /** 32 random bytes in base64url; told only here. */
  readonly code: string
  readonly expiresAt: Timestamp
}

/** Body of the sign-in call. A text that was never a code is answered like a used one. */
export type SignInCodeRedeemRequest = {
  readonly code: string
}

/** A new token of the principal, which lives at most 12 hours. */
export type SignInCodeSession = {
  readonly token: AccessTokenText
  readonly expiresAt: Timestamp
  readonly principalId: SafeIdentifier
}

/** An instant in UTC with exactly six fraction digits. */
export type Timestamp = string

/** Identifies one access token; it is no secret. */
export type TokenId = string

export type TopologyEventState = "published" | "suspended" | "revoked" | "disabled"

/** The lineage of one root Task: parents before children, every parent present. More than 1,000 Invocations come in pages by createdAt; a parent is then on the same page or on an earlier one. */
export type Trace = {
  readonly traceId: TraceId
  readonly invocations: ReadonlyArray<InvocationRecord>
  /** Present only when more exists; opaque. */
  readonly nextCursor?: string
}

/** 32 lowercase hex digits, not all zero. */
export type TraceId = string

/** A Trace as a list shows it: its root, and what became of all its Invocations. */
export type TraceItem = {
  readonly traceId: TraceId
  /** The Invocation that began the Trace; it has no parent. */
  readonly root: InvocationRecord
  /** All of them, the root included. */
  readonly invocations: number
  /** Those that have not ended. */
  readonly running: number
  /** Those that ended `failed` or `timed_out`. A cancellation is a choice of the caller, not a failure. */
  readonly failures: number
  /** The failures by code and reason, the most frequent first. */
  readonly errors: ReadonlyArray<TraceItemError>
  /** Agents that were called, the most often called first, then by id; at most 20. */
  readonly agents: ReadonlyArray<SafeIdentifier>
  /** How many Agents were called. */
  readonly agentCount: number
  /** From the creation of the root to the last recorded event of any Invocation; it grows while one runs. */
  readonly durationMs: number
}

export type TraceItemError = {
  readonly errorCode: InvocationRecordErrorCode
  readonly reason?: PlatformErrorReason
  readonly count: number
}

export type TracePage = {
  readonly items: ReadonlyArray<TraceItem>
  readonly nextCursor?: SearchCursor
}

/** A minimal container that belongs to the principal who created it. */
export type Workspace = {
  readonly workspaceId: SafeIdentifier
  /** The creating principal; immutable. */
  readonly ownerId: SafeIdentifier
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** A principal whom the owner of a Workspace lets call its Agents and read what is recorded there. A principal that was removed and added again has a new record; the old one stays. */
export type WorkspaceCaller = {
  readonly workspaceId: SafeIdentifier
  /** As the owner wrote it; it is not looked up. */
  readonly principalId: SafeIdentifier
  readonly addedAt: Timestamp
  /** The principal that added the caller: the owner of the Workspace. */
  readonly addedBy: SafeIdentifier
  /** Only of a former caller; later than addedAt. */
  readonly removedAt?: Timestamp
}

/** Body of the create call. */
export type WorkspaceCreateRequest = {
  readonly workspaceId: SafeIdentifier
}

/** A Workspace as a list shows it, with what it is to the principal that reads the list. */
export type WorkspaceItem = {
  readonly workspaceId: SafeIdentifier
  readonly ownerId: WorkspaceOwnerId
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  /** `owner` of one's own Workspaces, `caller` of those whose owner made one a caller. */
  readonly role: "owner" | "caller"
}

/** `owner` of one's own Workspaces, `caller` of those whose owner made one a caller. */
export type WorkspaceItemRole = "owner" | "caller"

/** The creating principal; immutable. */
export type WorkspaceOwnerId = SafeIdentifier

export type WorkspacePage = {
  readonly items: ReadonlyArray<WorkspaceItem>
  readonly nextCursor?: NextCursor
}

/** What each operation of the Gateway takes and answers. */
export interface Operations {
  discoverAgents: {query: { query?: string; capability?: SafeIdentifier; ownerId?: SafeIdentifier; latest?: boolean; installable?: boolean; order?: "relevance" | "newest"; limit?: number; cursor?: string }; answer: DiscoveryPage}
  registerAgentCard: {body: AgentCard; answer: CatalogEntry}
  readAgentOverview: {path: { agentId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: AgentOverview}
  readAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: AgentCard}
  readAgentCompatibility: {path: { agentId: SafeIdentifier; version: AgentVersion }; query: { from: AgentVersion }; answer: AgentCompatibility}
  publishAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: CatalogEntry}
  disableAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: CatalogEntry}
  readPublicAgent: {path: { publicAgentId: PublicAgentId }; query: { limit?: number; cursor?: string }; answer: PublicAgentShare}
  createEndpointBinding: {path: { providerId: SafeIdentifier; agentId: SafeIdentifier }; body: EndpointBindingCreateRequest; answer: EndpointBinding}
  listEndpointBindings: {path: { providerId: SafeIdentifier }; query: { agentId?: SafeIdentifier; limit?: number; cursor?: string }; answer: EndpointBindingPage}
  readEndpointBinding: {path: { providerId: SafeIdentifier; bindingId: SafeIdentifier }; answer: EndpointBinding}
  createChallenge: {path: { providerId: SafeIdentifier; bindingId: SafeIdentifier }; answer: Challenge}
  completeChallenge: {path: { providerId: SafeIdentifier; bindingId: SafeIdentifier; challengeId: SafeIdentifier }; answer: EndpointBinding}
  createRelease: {path: { providerId: SafeIdentifier; agentId: SafeIdentifier }; body: ReleaseCreateRequest; answer: Release}
  listReleases: {path: { providerId: SafeIdentifier }; query: { agentId?: SafeIdentifier; limit?: number; cursor?: string }; answer: ReleasePage}
  listProviderAgents: {path: { providerId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: CatalogEntryPage}
  verifyRelease: {path: { releaseId: SafeIdentifier }; answer: Release}
  publishRelease: {path: { releaseId: SafeIdentifier }; answer: Release}
  suspendRelease: {path: { releaseId: SafeIdentifier }; answer: Release}
  revokeRelease: {path: { releaseId: SafeIdentifier }; answer: Release}
  readRelease: {path: { releaseId: SafeIdentifier }; answer: Release}
  readReleaseReach: {path: { releaseId: SafeIdentifier }; answer: ReleaseReach}
  readReleaseObservation: {path: { releaseId: SafeIdentifier }; answer: ReleaseObservation}
  readPlatformStatus: {answer: HealthPlatformStatus}
  readMe: {answer: Principal}
  listMyAgents: {query: { limit?: number; cursor?: string }; answer: OwnedAgentPage}
  listMyTokens: {query: { limit?: number; cursor?: string }; answer: AccessTokenPage}
  createMyToken: {body: AccessTokenCreateRequest; answer: AccessTokenIssued}
  revokeMyToken: {path: { tokenId: SafeIdentifier }; answer: AccessToken}
  revokePresentedToken: {answer: AccessToken}
  createSignInCode: {answer: SignInCode}
  signIn: {body: SignInCodeRedeemRequest; answer: SignInCodeSession}
  listWorkspaces: {query: { role?: WorkspaceItemRole; limit?: number; cursor?: string }; answer: WorkspacePage}
  createWorkspace: {body: WorkspaceCreateRequest; answer: Workspace}
  readWorkspace: {path: { workspaceId: SafeIdentifier }; answer: Workspace}
  listCallers: {path: { workspaceId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: CallerPage}
  addCaller: {path: { workspaceId: SafeIdentifier; principalId: SafeIdentifier }; answer: WorkspaceCaller}
  removeCaller: {path: { workspaceId: SafeIdentifier; principalId: SafeIdentifier }; answer: WorkspaceCaller}
  listInstallations: {path: { workspaceId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: InstallationPage}
  installAgent: {path: { workspaceId: SafeIdentifier }; body: InstallRequest; answer: Installation}
  readInstallation: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; answer: Installation}
  updateInstallation: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; body: InstallationUpdate; answer: Installation}
  uninstallAgent: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; answer: Installation}
  listInvocations: {path: { workspaceId: SafeIdentifier }; query: { status?: InvocationRecordStatus; agentId?: SafeIdentifier; capability?: SafeIdentifier; callerId?: SafeIdentifier; root?: boolean; traceId?: TraceId; errorCode?: InvocationRecordErrorCode; reason?: PlatformErrorReason; since?: string; until?: string; order?: "newest" | "slowest"; limit?: number; cursor?: string }; answer: InvocationPage}
  invokeAgent: {path: { workspaceId: SafeIdentifier }; body: InvocationRequest; answer: InvocationResult}
  readEvents: {path: { workspaceId: SafeIdentifier }; query: { after?: string; limit?: number }; answer: EventPage}
  readFigures: {path: { workspaceId: SafeIdentifier }; query: { since?: string; until?: string; step?: number }; answer: Figures}
  readInvocation: {path: { workspaceId: SafeIdentifier; invocationId: SafeIdentifier }; answer: InvocationDetail}
  readInvocationBundle: {path: { workspaceId: SafeIdentifier; invocationId: SafeIdentifier }; answer: LedgerBundle}
  readInvocationBundlePages: {path: { workspaceId: SafeIdentifier; invocationId: SafeIdentifier }; query: { cursor?: string }; answer: LedgerBundlePage}
  readTraceBundle: {path: { workspaceId: SafeIdentifier; traceId: TraceId }; answer: LedgerBundle}
  readTraceBundlePages: {path: { workspaceId: SafeIdentifier; traceId: TraceId }; query: { cursor?: string }; answer: LedgerBundlePage}
  listTraces: {path: { workspaceId: SafeIdentifier }; query: { status?: InvocationRecordStatus; agentId?: SafeIdentifier; capability?: SafeIdentifier; callerId?: SafeIdentifier; traceId?: TraceId; errorCode?: InvocationRecordErrorCode; reason?: PlatformErrorReason; since?: string; until?: string; order?: "newest" | "slowest"; limit?: number; cursor?: string }; answer: TracePage}
  readTrace: {path: { workspaceId: SafeIdentifier; traceId: TraceId }; query: { cursor?: string }; answer: Trace}
}

export type OperationId = keyof Operations

export const OPERATIONS: Readonly<Record<OperationId, { method: string; path: string }>> = {
  discoverAgents: { method: "GET", path: "/v1/agents" },
  registerAgentCard: { method: "POST", path: "/v1/agents" },
  readAgentOverview: { method: "GET", path: "/v1/agents/{agentId}" },
  readAgentCard: { method: "GET", path: "/v1/agents/{agentId}/versions/{version}" },
  readAgentCompatibility: { method: "GET", path: "/v1/agents/{agentId}/versions/{version}/compatibility" },
  publishAgentCard: { method: "POST", path: "/v1/agents/{agentId}/versions/{version}/publish" },
  disableAgentCard: { method: "POST", path: "/v1/agents/{agentId}/versions/{version}/disable" },
  readPublicAgent: { method: "GET", path: "/v1/public/agents/{publicAgentId}" },
  createEndpointBinding: { method: "POST", path: "/v1/providers/{providerId}/agents/{agentId}/endpoint-bindings" },
  listEndpointBindings: { method: "GET", path: "/v1/providers/{providerId}/endpoint-bindings" },
  readEndpointBinding: { method: "GET", path: "/v1/providers/{providerId}/endpoint-bindings/{bindingId}" },
  createChallenge: { method: "POST", path: "/v1/providers/{providerId}/endpoint-bindings/{bindingId}/challenges" },
  completeChallenge: { method: "POST", path: "/v1/providers/{providerId}/endpoint-bindings/{bindingId}/challenges/{challengeId}/complete" },
  createRelease: { method: "POST", path: "/v1/providers/{providerId}/agents/{agentId}/releases" },
  listReleases: { method: "GET", path: "/v1/providers/{providerId}/releases" },
  listProviderAgents: { method: "GET", path: "/v1/providers/{providerId}/agents" },
  verifyRelease: { method: "POST", path: "/v1/releases/{releaseId}/verify" },
  publishRelease: { method: "POST", path: "/v1/releases/{releaseId}/publish" },
  suspendRelease: { method: "POST", path: "/v1/releases/{releaseId}/suspend" },
  revokeRelease: { method: "POST", path: "/v1/releases/{releaseId}/revoke" },
  readRelease: { method: "GET", path: "/v1/releases/{releaseId}" },
  readReleaseReach: { method: "GET", path: "/v1/releases/{releaseId}/reach" },
  readReleaseObservation: { method: "GET", path: "/v1/releases/{releaseId}/observation" },
  readPlatformStatus: { method: "GET", path: "/v1/status" },
  readMe: { method: "GET", path: "/v1/me" },
  listMyAgents: { method: "GET", path: "/v1/me/agents" },
  listMyTokens: { method: "GET", path: "/v1/me/tokens" },
  createMyToken: { method: "POST", path: "/v1/me/tokens" },
  revokeMyToken: { method: "DELETE", path: "/v1/me/tokens/{tokenId}" },
  revokePresentedToken: { method: "DELETE", path: "/v1/me/token" },
  createSignInCode: { method: "POST", path: "/v1/me/sign-in-codes" },
  signIn: { method: "POST", path: "/v1/sign-in" },
  listWorkspaces: { method: "GET", path: "/v1/workspaces" },
  createWorkspace: { method: "POST", path: "/v1/workspaces" },
  readWorkspace: { method: "GET", path: "/v1/workspaces/{workspaceId}" },
  listCallers: { method: "GET", path: "/v1/workspaces/{workspaceId}/callers" },
  addCaller: { method: "PUT", path: "/v1/workspaces/{workspaceId}/callers/{principalId}" },
  removeCaller: { method: "DELETE", path: "/v1/workspaces/{workspaceId}/callers/{principalId}" },
  listInstallations: { method: "GET", path: "/v1/workspaces/{workspaceId}/installations" },
  installAgent: { method: "POST", path: "/v1/workspaces/{workspaceId}/installations" },
  readInstallation: { method: "GET", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  updateInstallation: { method: "PATCH", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  uninstallAgent: { method: "DELETE", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  listInvocations: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations" },
  invokeAgent: { method: "POST", path: "/v1/workspaces/{workspaceId}/invocations" },
  readEvents: { method: "GET", path: "/v1/workspaces/{workspaceId}/events" },
  readFigures: { method: "GET", path: "/v1/workspaces/{workspaceId}/figures" },
  readInvocation: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations/{invocationId}" },
  readInvocationBundle: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations/{invocationId}/bundle" },
  readInvocationBundlePages: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations/{invocationId}/bundle/pages" },
  readTraceBundle: { method: "GET", path: "/v1/workspaces/{workspaceId}/traces/{traceId}/bundle" },
  readTraceBundlePages: { method: "GET", path: "/v1/workspaces/{workspaceId}/traces/{traceId}/bundle/pages" },
  listTraces: { method: "GET", path: "/v1/workspaces/{workspaceId}/traces" },
  readTrace: { method: "GET", path: "/v1/workspaces/{workspaceId}/traces/{traceId}" },
}

export type ErrorCode = "VALIDATION_ERROR" | "INVALID_ENDPOINT" | "WRONG_PROOF" | "REDIRECT_NOT_ALLOWED" | "UNAUTHENTICATED" | "FORBIDDEN" | "CAPABILITY_NOT_ALLOWED" | "DISALLOWED_NETWORK" | "NOT_FOUND" | "AGENT_NOT_INSTALLED" | "NOT_ACCEPTABLE" | "CONFLICT" | "CANCELED" | "CHALLENGE_EXPIRED" | "CHALLENGE_REUSED" | "INSTALLATION_DISABLED" | "AGENT_DISABLED" | "AGENT_RELEASE_UNPUBLISHED" | "AGENT_RELEASE_SUSPENDED" | "AGENT_RELEASE_REVOKED" | "PAYLOAD_TOO_LARGE" | "INTERNAL_ERROR" | "AGENT_AUTH_UNSUPPORTED" | "AGENT_RESPONSE_TOO_LARGE" | "AGENT_EXECUTION_FAILED" | "A2A_PROTOCOL_ERROR" | "ROUTE_NOT_FOUND" | "AGENT_UNAVAILABLE" | "ENDPOINT_UNAVAILABLE" | "DEPENDENCY_ERROR" | "OVERLOADED" | "TIMEOUT"

export const ERROR_CODES: Readonly<Record<ErrorCode, { status: number; message: string }>> = {
  VALIDATION_ERROR: { status: 400, message: "The request does not follow the contract." },
  INVALID_ENDPOINT: { status: 400, message: "The endpoint is malformed or is not the one in the Agent Card." },
  WRONG_PROOF: { status: 400, message: "The endpoint answered, but not with the expected proof." },
  REDIRECT_NOT_ALLOWED: { status: 400, message: "The proof location answered with a redirect, which is not followed." },
  UNAUTHENTICATED: { status: 401, message: "A valid credential is required." },
  FORBIDDEN: { status: 403, message: "This identity or context may not do that." },
  CAPABILITY_NOT_ALLOWED: { status: 403, message: "The Workspace may not use this capability." },
  DISALLOWED_NETWORK: { status: 403, message: "The endpoint lies in a network the platform does not contact." },
  NOT_FOUND: { status: 404, message: "Nothing is known under this address." },
  AGENT_NOT_INSTALLED: { status: 404, message: "The Agent is not installed in this Workspace." },
  NOT_ACCEPTABLE: { status: 406, message: "The Accept header does not allow the requested result mode." },
  CONFLICT: { status: 409, message: "The current state does not permit this." },
  CANCELED: { status: 409, message: "The invocation was canceled." },
  CHALLENGE_EXPIRED: { status: 409, message: "The challenge is past its expiry time." },
  CHALLENGE_REUSED: { status: 409, message: "The challenge was already used." },
  INSTALLATION_DISABLED: { status: 409, message: "The Installation is disabled." },
  AGENT_DISABLED: { status: 409, message: "This Agent version is disabled." },
  AGENT_RELEASE_UNPUBLISHED: { status: 409, message: "This Agent version has no published Release." },
  AGENT_RELEASE_SUSPENDED: { status: 409, message: "The Release of this Agent version is suspended." },
  AGENT_RELEASE_REVOKED: { status: 409, message: "The Release of this Agent version is revoked." },
  PAYLOAD_TOO_LARGE: { status: 413, message: "The request is larger than allowed." },
  INTERNAL_ERROR: { status: 500, message: "The platform met an unexpected fault." },
  AGENT_AUTH_UNSUPPORTED: { status: 502, message: "The Agent asks for an authentication type the Router does not offer." },
  AGENT_RESPONSE_TOO_LARGE: { status: 502, message: "The Agent's answer is larger than allowed." },
  AGENT_EXECUTION_FAILED: { status: 502, message: "The Agent reported that it could not do the work." },
  A2A_PROTOCOL_ERROR: { status: 502, message: "The Agent's answer breaks the protocol or the output schema." },
  ROUTE_NOT_FOUND: { status: 503, message: "No permitted route leads to the Agent in this mode." },
  AGENT_UNAVAILABLE: { status: 503, message: "The Agent could not be reached." },
  ENDPOINT_UNAVAILABLE: { status: 503, message: "The endpoint could not be reached for verification." },
  DEPENDENCY_ERROR: { status: 503, message: "A service the platform depends on did not answer properly." },
  OVERLOADED: { status: 503, message: "The platform is busy and started nothing." },
  TIMEOUT: { status: 504, message: "The invocation did not finish in time." },
}

/** Whose turn it is after a failure, and what to do. */
export type RecoveryOwner = "caller" | "platform_operator" | "provider" | "workspace_owner"

export const RECOVERY: Readonly<Record<ErrorCode, { owner: RecoveryOwner; action: string }>> = {
  VALIDATION_ERROR: { owner: "caller", action: "Correct the request at the places its violations point to and send it again." },
  INVALID_ENDPOINT: { owner: "provider", action: "Bind exactly the endpoint that the Agent Card declares; to change the endpoint, register a new Card version." },
  WRONG_PROOF: { owner: "provider", action: "Create a fresh challenge, serve its exact proof without a trailing newline, and complete it once before it expires." },
  REDIRECT_NOT_ALLOWED: { owner: "provider", action: "Serve the proof at its own path without a redirect, then create a fresh challenge and complete it once before it expires." },
  UNAUTHENTICATED: { owner: "caller", action: "Use a valid access token; an expired or revoked one must be replaced." },
  FORBIDDEN: { owner: "caller", action: "Act as the principal it belongs to, or ask that owner to act." },
  CAPABILITY_NOT_ALLOWED: { owner: "workspace_owner", action: "Name a Skill of the installed version; if its permissions were not accepted, replace the Installation by one that accepts them." },
  DISALLOWED_NETWORK: { owner: "provider", action: "Use an endpoint that the platform's network policy permits; a changed endpoint needs a new Card version and Binding." },
  NOT_FOUND: { owner: "caller", action: "Check every identifier of the request; list what exists to find the right one." },
  AGENT_NOT_INSTALLED: { owner: "workspace_owner", action: "Install the Agent in this Workspace, then invoke again." },
  NOT_ACCEPTABLE: { owner: "caller", action: "Let Accept allow what `stream` selects: application/json for a result, text/event-stream for a stream; `*/*` allows both." },
  CONFLICT: { owner: "caller", action: "Read the current state; do only what it still permits." },
  CANCELED: { owner: "caller", action: "The Invocation stays canceled. The Agent may have done part of the work: find that out before you invoke again." },
  CHALLENGE_EXPIRED: { owner: "provider", action: "Create a fresh challenge, serve its exact proof, and complete it once before it expires." },
  CHALLENGE_REUSED: { owner: "provider", action: "Create a fresh challenge, serve its exact proof, and complete it once before it expires." },
  INSTALLATION_DISABLED: { owner: "workspace_owner", action: "Set the Installation enabled, then invoke again." },
  AGENT_DISABLED: { owner: "provider", action: "Publish a new Card version with its own Release; the Workspace owner then installs that version." },
  AGENT_RELEASE_UNPUBLISHED: { owner: "provider", action: "Complete the verification and publish the Release." },
  AGENT_RELEASE_SUSPENDED: { owner: "provider", action: "Publish a new Card version with its own Binding, challenge and Release; the Workspace owner then reinstalls. A suspension is never lifted." },
  AGENT_RELEASE_REVOKED: { owner: "provider", action: "Publish a new Card version with its own Binding, challenge and Release; the Workspace owner then reinstalls. A revocation is never lifted." },
  PAYLOAD_TOO_LARGE: { owner: "caller", action: "Send less: the limit is the smaller of the platform's and, for an invocation, the Card's maxInputBytes." },
  INTERNAL_ERROR: { owner: "platform_operator", action: "Find the request by its trace in the log of the unit; until then read the state before calling again." },
  AGENT_AUTH_UNSUPPORTED: { owner: "provider", action: "Publish a new Card version whose authentication type is http_bearer; only that one can be invoked." },
  AGENT_RESPONSE_TOO_LARGE: { owner: "provider", action: "Answer with less than the Card's maxOutputBytes and the platform's limit, or raise maxOutputBytes in a new Card version. The Agent may have done the work: a new Invocation may do it twice." },
  AGENT_EXECUTION_FAILED: { owner: "provider", action: "Find the cause in the Agent's own log by the trace. The Invocation stays failed. The Agent may have done part of the work: a new Invocation may do it twice." },
  A2A_PROTOCOL_ERROR: { owner: "provider", action: "Let the Agent's answers follow the A2A profile and the Skill's output schema; `aop agent check` names the difference. The Agent may have done the work: a new Invocation may do it twice." },
  ROUTE_NOT_FOUND: { owner: "provider", action: "Invoke without streaming if the Card offers none; otherwise the endpoint must lie in a network that the policy permits." },
  AGENT_UNAVAILABLE: { owner: "provider", action: "Restore the endpoint or publish a new version. The Invocation stays failed. The Agent may have begun: find that out before you invoke again." },
  ENDPOINT_UNAVAILABLE: { owner: "provider", action: "Make the endpoint reachable, then create a fresh challenge, serve its exact proof, and complete it once before it expires." },
  DEPENDENCY_ERROR: { owner: "platform_operator", action: "Restore the failing part; the status of the platform names it. A caller reads the Trace or the state first and then decides whether to call again." },
  OVERLOADED: { owner: "caller", action: "Nothing was started. Call again later, not before the time of Retry-After." },
  TIMEOUT: { owner: "caller", action: "The Invocation stays timed out. The Agent may have done part of the work: find that out before you invoke again, with less work. The limit is the smaller of the Card's timeoutMs and the platform's." },
}

export type ReasonEntry = {
  readonly sentence: string
  readonly owner: RecoveryOwner
  readonly action: string
}
/** What each reason says beside a code it may stand beside. */
export const REASONS: {
  readonly [code in ErrorCode]?: { readonly [reason in PlatformErrorReason]?: ReasonEntry }
} = {
  AGENT_UNAVAILABLE: {
    name_not_resolved: {"sentence": "The host name of the Agent's endpoint has no address, so the Agent was not contacted.", "owner": "provider", "action": "Restore the name in DNS, or publish a new version with another endpoint."},
    connect_failed: {"sentence": "No connection to the Agent's endpoint could be made, so the Agent was not contacted.", "owner": "provider", "action": "Start the Agent and let its port accept connections from the Router."},
    tls_failed: {"sentence": "The TLS handshake with the Agent's endpoint failed, so nothing was sent to the Agent.", "owner": "provider", "action": "Serve a valid certificate for the host name of the endpoint."},
    transfer_broken: {"sentence": "The connection to the Agent broke before its answer was whole; the Agent may have done the work.", "owner": "provider", "action": "Find in the Agent's log, by the trace, what was done before anybody invokes again."},
    http_redirect: {"sentence": "The Agent answered with a redirect, which is not followed.", "owner": "provider", "action": "Answer at the endpoint of the Card itself, or publish a new version with the other endpoint."},
    http_auth: {"sentence": "The Agent refused the Router's credential with HTTP 401 or 403.", "owner": "provider", "action": "Verify the Router's credential as the A2A profile says; `aop agent check` names the difference. An Agent with authentication of its own goes behind `aop front`."},
    http_client_error: {"sentence": "The Agent answered with an HTTP status from 400 to 499 other than 401 and 403.", "owner": "provider", "action": "Serve A2A at the endpoint of the Card; `aop agent check` names the difference."},
    http_server_error: {"sentence": "The Agent answered with an HTTP status of 500 or above; it may have done part of the work.", "owner": "provider", "action": "Find in the Agent's log, by the trace, what was done before anybody invokes again."},
    http_other_success: {"sentence": "The Agent answered with an HTTP status from 201 to 299, which is no answer of A2A; the Agent may have done the work.", "owner": "provider", "action": "Answer every A2A request with HTTP status 200; `aop agent check` names the difference."},
  },
  ROUTE_NOT_FOUND: {
    address_refused: {"sentence": "The Agent's endpoint has an address in a network that the platform does not contact.", "owner": "provider", "action": "Use an endpoint that the platform's network policy permits; a changed endpoint needs a new Card version and Binding."},
    streaming_not_declared: {"sentence": "The Agent's Card does not offer streaming, so the Agent was not contacted.", "owner": "caller", "action": "Invoke without streaming."},
  },
  AGENT_EXECUTION_FAILED: {
    task_failed: {"sentence": "The Agent reported its Task as failed; it may have done part of the work.", "owner": "provider", "action": "Find the cause in the Agent's log by the trace."},
    task_rejected: {"sentence": "The Agent rejected the Task.", "owner": "provider", "action": "Find the cause in the Agent's log by the trace."},
    input_required: {"sentence": "The Agent asked for more input, which an Invocation cannot give; it may have done part of the work.", "owner": "caller", "action": "Read the Agent's description and put all that the Skill needs into the input of a new Invocation."},
    auth_required: {"sentence": "The Agent asked for another authentication, which an Invocation cannot give; it may have done part of the work.", "owner": "provider", "action": "Let the Skill work with the Router's credential alone, or let `aop front` add the Agent's own authentication."},
    rpc_error: {"sentence": "The Agent answered with a JSON-RPC error; it may have done part of the work.", "owner": "provider", "action": "Find the cause in the Agent's log by the trace."},
    rpc_method_not_found: {"sentence": "The Agent does not offer the A2A method that the Router called; an Agent of A2A 1.0 answers like this.", "owner": "provider", "action": "Offer the methods of A2A 0.3.0, or put `aop front` before the Agent; `aop agent check` names the difference."},
    rpc_version_not_supported: {"sentence": "The Agent does not support the A2A version that the Router speaks.", "owner": "provider", "action": "Offer A2A 0.3.0 at the endpoint of the Card, or put `aop front` before the Agent."},
  },
  A2A_PROTOCOL_ERROR: {
    media_type: {"sentence": "The Agent's answer has a media type that does not fit the call; the Agent may have done the work.", "owner": "provider", "action": "Answer application/json to a call and text/event-stream to a stream; `aop agent check` names the difference."},
    not_json: {"sentence": "The Agent's answer is not strict JSON; the Agent may have done the work.", "owner": "provider", "action": "Answer with JSON text as RFC 8259 defines it; `aop agent check` names the difference."},
    rpc_envelope: {"sentence": "The Agent's answer is not a JSON-RPC 2.0 response to the Router's request; the Agent may have done the work.", "owner": "provider", "action": "Answer with the request's id and with either a result or an error; `aop agent check` names the difference."},
    message_shape: {"sentence": "The Agent's Message does not have the shape of the A2A profile; the Agent may have done the work.", "owner": "provider", "action": "Let the Message follow the A2A profile; `aop agent check` names the difference."},
    task_shape: {"sentence": "The Agent's Task does not have the shape of the A2A profile; the Agent may have done the work.", "owner": "provider", "action": "Let the Task follow the A2A profile; `aop agent check` names the difference."},
    task_changed: {"sentence": "The Agent named another Task or context than before; the Agent may have done the work.", "owner": "provider", "action": "Keep the ids of a Task the same from its first event to its last; `aop agent check` names the difference."},
    task_state_unknown: {"sentence": "The Agent reported its Task in a state that the A2A profile does not know; the Agent may have done the work.", "owner": "provider", "action": "Use the Task states of the A2A profile; `aop agent check` names the difference."},
    stream_order: {"sentence": "The events of the Agent's stream came in an order that the A2A profile does not permit; the Agent may have done the work.", "owner": "provider", "action": "Send the events in the order of the A2A profile; `aop agent check` names the difference."},
    artifact_order: {"sentence": "The Agent appended to an artifact that it had not begun, or that was complete; the Agent may have done the work.", "owner": "provider", "action": "Begin an artifact before appending to it, and append nothing after its last chunk; `aop agent check` names the difference."},
    artifact_replaced: {"sentence": "The Agent replaced an artifact of its stream, but delivered chunks cannot be taken back; the Agent may have done the work.", "owner": "provider", "action": "Send each artifact once and extend it with `append`; `aop agent check` names the difference."},
    stream_ended_early: {"sentence": "The Agent's stream ended before its Task did; the Agent may have done the work.", "owner": "provider", "action": "Find in the Agent's log, by the trace, what was done before anybody invokes again; then let every stream end with its Task."},
    output_schema: {"sentence": "The Agent's output does not conform to the Skill's output schema; the Agent may have done the work.", "owner": "provider", "action": "Answer within the Skill's output schema, or publish a new version with another one; `aop agent check` names the difference."},
  },
  AGENT_RESPONSE_TOO_LARGE: {
    head_size: {"sentence": "The headers of the Agent's answer are larger than the platform's limit; the Agent may have done the work.", "owner": "provider", "action": "Answer with fewer and shorter headers."},
    body_size: {"sentence": "The Agent's answer is larger than the Card's maxOutputBytes or the platform's limit; the Agent may have done the work.", "owner": "provider", "action": "Answer with less, or raise maxOutputBytes in a new Card version if the platform's limit permits it."},
    event_size: {"sentence": "One event of the Agent's stream is larger than the platform's limit; the Agent may have done the work.", "owner": "provider", "action": "Send the output in smaller events."},
    frame_size: {"sentence": "One chunk of the Agent's stream does not fit into an event for the caller; the Agent may have done the work.", "owner": "provider", "action": "Send the output in smaller chunks."},
    schema_work: {"sentence": "Checking the Agent's output against the Skill's output schema would take more work than the platform allows; the Agent may have done the work.", "owner": "provider", "action": "Answer with less, or publish a new version whose output schema is simpler to check."},
  },
  PAYLOAD_TOO_LARGE: {
    body_size: {"sentence": "The body of the request is larger than the platform's limit; nothing was started.", "owner": "caller", "action": "Send a smaller body."},
    input_size: {"sentence": "The input is larger than the Card's maxInputBytes or the platform's limit; nothing was started.", "owner": "caller", "action": "Send less input; the Agent's Card names its limit."},
    schema_work: {"sentence": "Reading the body, or checking the input against the Skill's input schema, would take more work than the platform allows; nothing was started.", "owner": "caller", "action": "Send less input, in particular shorter lists and texts; the provider can publish a version whose input schema is simpler to check."},
  },
  DEPENDENCY_ERROR: {
    acceptance_unknown: {"sentence": "Nobody knows whether the Invocation was accepted: the Trace read shows whether one exists; \"not found\" counts only when read at least 30 s after the error while `/v1/status` reports the Router ok; repeating the call may run it twice.", "owner": "caller", "action": "Read the Trace of this error before you call again."},
    router_unreachable: {"sentence": "The Router could not be reached or did not answer a read; nothing was started.", "owner": "platform_operator", "action": "Restore the Router; the status of the platform shows when it answers."},
    store_unavailable: {"sentence": "The database did not answer in time or refused the connection.", "owner": "platform_operator", "action": "Restore the database. A caller reads the state before calling again."},
    outcome_unknown: {"sentence": "The Invocation was accepted, but its outcome could not be recorded or delivered; the Agent may have done the work.", "owner": "caller", "action": "Read the Invocation, and find out from the Agent's provider what was done before invoking again."},
    router_restarted: {"sentence": "The Router ended while the Invocation was running; the Agent may have done the work.", "owner": "caller", "action": "Find out from the Agent's provider what was done before invoking again."},
    control_plane_unreachable: {"sentence": "The Router could not ask the Control Plane for the Agent, so the Agent was not contacted.", "owner": "platform_operator", "action": "Restore the Control Plane; the status of the platform shows when it answers."},
  },
  CONFLICT: {
    already_installed: {"sentence": "The Workspace has a current Installation of this Agent.", "owner": "workspace_owner", "action": "Read the Installation; replace it to move to another version."},
    already_exists: {"sentence": "Something with this identifier exists already.", "owner": "caller", "action": "Read what exists, or choose another identifier."},
    state_changed: {"sentence": "The state changed since it was read.", "owner": "caller", "action": "Read the current state, then decide again."},
    parent_not_running: {"sentence": "The Invocation that the call belongs to is not running any more.", "owner": "provider", "action": "Make nested calls only while the own Invocation runs."},
    not_numbered_yet: {"sentence": "The Invocation does not have its number in the Ledger's sequence yet.", "owner": "caller", "action": "Ask again after a short time."},
    installation_state: {"sentence": "The Installation is in a state from which this step does not lead; an uninstalled one stays so.", "owner": "workspace_owner", "action": "Read the Installation; do only what its state permits."},
    caller_is_owner: {"sentence": "The principal owns the Workspace, so it can call there already.", "owner": "workspace_owner", "action": "Nothing is to be done; name another principal to share the Workspace."},
    caller_limit: {"sentence": "The Workspace has as many callers as the platform allows.", "owner": "workspace_owner", "action": "Remove a caller first, or add one principal that stands for a whole team."},
    card_state: {"sentence": "The Card version is in a state from which this step does not lead; a disabled one stays so.", "owner": "provider", "action": "Read the Agent's versions; register a new version to go on."},
    binding_verified: {"sentence": "The Binding is verified already, so it takes no further challenge.", "owner": "provider", "action": "Read the Binding; create or verify the Release with it."},
    binding_failed: {"sentence": "The Binding failed its verification.", "owner": "provider", "action": "Complete a fresh challenge of the Binding first."},
    binding_not_verified: {"sentence": "The Binding is not verified yet.", "owner": "provider", "action": "Complete a challenge of the Binding first."},
    binding_evidence_changed: {"sentence": "The Binding no longer has the evidence that the Release was verified with.", "owner": "provider", "action": "Publish a new Card version with its own Binding and Release."},
    release_state: {"sentence": "The Release is in a state from which this step does not lead; a suspended or revoked one stays so.", "owner": "provider", "action": "Read the Release; do only what its state permits."},
    agent_of_other_provider: {"sentence": "The Agent is bound to another provider.", "owner": "provider", "action": "Use the provider that the Agent was first bound to."},
    token_limit: {"sentence": "The principal has as many tokens and open sign-in codes as it may have, or made too many within a day.", "owner": "caller", "action": "Revoke tokens that are no longer needed, or make fewer."},
    token_of_openid_provider: {"sentence": "The presented token belongs to the OpenID provider, and only the provider can end it.", "owner": "caller", "action": "Sign out at the OpenID provider."},
  },
  NOT_FOUND: {
    workspace_unknown: {"sentence": "There is no Workspace with this id.", "owner": "caller", "action": "Check the Workspace id; list the Workspaces to find it."},
    agent_unknown: {"sentence": "There is no Agent with this id.", "owner": "caller", "action": "Check the Agent id; search the Catalog to find it."},
    version_unknown: {"sentence": "There is no such version of this Agent.", "owner": "caller", "action": "Check the version; the Agent's overview lists its versions."},
    version_range_empty: {"sentence": "There is no usable version of this Agent in the range.", "owner": "caller", "action": "Choose another range; the Agent's overview lists its versions."},
    provider_unknown: {"sentence": "There is no provider with this id.", "owner": "caller", "action": "Check the provider id; a provider exists from its first Binding on."},
    binding_unknown: {"sentence": "There is no such Binding of this provider.", "owner": "caller", "action": "Check the Binding id and the provider id."},
    challenge_unknown: {"sentence": "There is no such challenge of this Binding.", "owner": "caller", "action": "Check the challenge id, or create a fresh challenge."},
    release_unknown: {"sentence": "There is no Release with this id.", "owner": "caller", "action": "Check the Release id; list the provider's Releases to find it."},
    installation_unknown: {"sentence": "There is no such Installation in this Workspace.", "owner": "caller", "action": "Check the Installation id; list the Installations of the Workspace to find it."},
    caller_unknown: {"sentence": "The principal is not a caller of this Workspace.", "owner": "workspace_owner", "action": "Check the principal id; list the callers of the Workspace to find it."},
    invocation_unknown: {"sentence": "There is no such Invocation in this Workspace.", "owner": "caller", "action": "Check the Invocation id and the Workspace; list the Invocations to find it."},
    trace_unknown: {"sentence": "There is no record of this Trace in this Workspace.", "owner": "caller", "action": "Check the Trace id and the Workspace. After an error whose acceptance is unknown, this counts only 30 s later while the Router is ok."},
    token_unknown: {"sentence": "The caller has no token with this id.", "owner": "caller", "action": "Check the id in the list of the caller's tokens."},
    archived: {"sentence": "The record is in a part of the Ledger that was archived.", "owner": "platform_operator", "action": "Look for it in the exported archive."},
  },
  AGENT_NOT_INSTALLED: {
    not_installed: {"sentence": "The Workspace has no current Installation of this Agent, or one of another version than the call was authorized for.", "owner": "workspace_owner", "action": "Read the Installations of the Workspace, and install the Agent where it is missing."},
  },
  CAPABILITY_NOT_ALLOWED: {
    skill_unknown: {"sentence": "The installed version of the Agent has no Skill with this id.", "owner": "caller", "action": "Name a Skill of the installed version; the Agent's Card lists them."},
    permission_not_accepted: {"sentence": "The Skill needs a permission that the Workspace did not accept.", "owner": "workspace_owner", "action": "Replace the Installation by one that accepts the permission."},
  },
  FORBIDDEN: {
    not_owner: {"sentence": "This belongs to another principal.", "owner": "caller", "action": "Act as the principal that it belongs to, or ask that owner to act."},
    not_caller: {"sentence": "The principal is neither the owner of this Workspace nor one of its callers.", "owner": "workspace_owner", "action": "The Workspace owner can add the principal as a caller."},
    depth_limit: {"sentence": "Nested calls of one root Task are as deep as the platform allows.", "owner": "provider", "action": "Let the Agents call each other less deeply."},
    fan_out_limit: {"sentence": "One root Task has as many Invocations as the platform allows.", "owner": "provider", "action": "Let the Agents make fewer calls for one root Task."},
  },
  UNAUTHENTICATED: {
    sign_in_code: {"sentence": "The sign-in code is wrong, used or expired.", "owner": "caller", "action": "Get a new sign-in link: `aop open` makes one."},
  },
}

/** What was expected where a request broke a rule, and whether the form of the place follows. */
export const RULES: Readonly<Record<string, readonly [string, boolean]>> = {
  "json_syntax": ["this is not JSON", false],
  "trailing_data": ["remove what follows the JSON value", false],
  "duplicate_member": ["a member is named twice here; keep one of them", false],
  "surrogate": ["a \\u escape holds half a character; write the character itself", false],
  "depth": ["nested too deep; a request may have 64 levels", false],
  "content_type": ["send the body as application/json", false],
  "body_timeout": ["the body did not arrive in time; send it without pauses", false],
  "header_name": ["a header name with an underscore looks like one of the platform's own; write it with hyphens", false],
  "host": ["the Host header and the address of the request differ; send the same in both", false],
  "path_value": ["the value in the path does not have the right form", true],
  "query_unknown": ["a query parameter is not known here; remove it or correct its spelling", false],
  "query_repeated": ["give this query parameter once", false],
  "query_value": ["the query parameter does not have the right form", true],
  "position": ["the events of this Workspace have no such position; take after of an answer before, or leave it out to read from the first event", false],
  "cursor": ["this is not a cursor of this list; take nextCursor of the page before, with the same filters and limit", false],
  "required": ["add this member", true],
  "additional_member": ["there is no such member here; remove it or correct its spelling", false],
  "type": ["another JSON type is needed here", true],
  "const": ["another value is needed here", true],
  "enum": ["another value is needed here", true],
  "pattern": ["the text does not have the right form", true],
  "format": ["the text does not have the right form", true],
  "minLength": ["the text is too short", true],
  "maxLength": ["the text is too long", true],
  "minimum": ["the number is too small", true],
  "exclusiveMinimum": ["the number is too small", true],
  "maximum": ["the number is too large", true],
  "exclusiveMaximum": ["the number is too large", true],
  "multipleOf": ["the number is not a multiple of the step that is needed here", true],
  "minItems": ["the array has too few items", true],
  "maxItems": ["the array has too many items", true],
  "uniqueItems": ["an item is in the array twice", true],
  "contains": ["an item of a certain kind is missing in the array, or there are too many of it", true],
  "minContains": ["the array has too few items of a certain kind", true],
  "maxContains": ["the array has too many items of a certain kind", true],
  "items": ["the array has items that may not be here", true],
  "prefixItems": ["the array has items that may not be here", true],
  "additionalItems": ["the array has items that may not be here", true],
  "unevaluatedItems": ["the array has items that may not be here", true],
  "minProperties": ["the object has too few members", true],
  "maxProperties": ["the object has too many members", true],
  "propertyNames": ["the name of a member does not have the right form", true],
  "dependentRequired": ["a member that is here needs another one", true],
  "dependentSchemas": ["a member that is here excludes another one", true],
  "allOf": ["the value does not fit all that is needed here", true],
  "anyOf": ["the value fits none of the forms that are allowed here", true],
  "oneOf": ["the value must fit exactly one of the forms that are allowed here", true],
  "not": ["this value is not allowed here", true],
  "if": ["this value is not allowed here", true],
  "then": ["this value is not allowed here together with the others", true],
  "else": ["this value is not allowed here together with the others", true],
  "contentEncoding": ["the text is not encoded as it should be", true],
  "contentMediaType": ["the text is not of the media type that is needed here", true],
  "$ref": ["this value is not allowed here", true],
  "$dynamicRef": ["this value is not allowed here", true],
  "constraint_syntax": ["this is not a version or a range; write for example 1.2.0, ^1.2 or >=1 <3", false],
  "permission_undeclared": ["this version of the Agent does not ask for this permission; accept only those that its Card declares", false],
  "too_many_kinds": ["calls of too many kinds are in this window to count them in one answer; ask for a shorter one", false],
  "replaces": ["the Installation to replace is one of another Agent; name one of the same Agent", false],
  "binding_mismatch": ["the Binding belongs to another Agent or version; name the Binding of this version", false],
  "CARD-1": ["another Skill has this id; Skill ids are unique in a Card", false],
  "CARD-2": ["another permission has this id; permission ids are unique in a Card", false],
  "CARD-3": ["declare it in `permissions` with exactly this spelling, or take it out here", false],
  "CARD-4": ["write the number with digits alone, like 60000", false],
  "CARD-5": ["a number in here is not safe for every reader: at most 2^53-1 without fraction, finite otherwise", false],
  "CARD-6": ["the Skill schema cannot be used", false],
}

/** What belongs at each place of a request: part and pointer, with `*` for an index. */
export const PLACES: Readonly<Record<string, string>> = {
  "path /agentId": "an Agent id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /bindingId": "a Binding id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /challengeId": "a challenge id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /installationId": "an Installation id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /invocationId": "an Invocation id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /principalId": "a principal: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /providerId": "a provider id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /publicAgentId": "a public id: agt_ and 32 lowercase hex digits",
  "path /releaseId": "a Release id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /tokenId": "a token id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "path /traceId": "a Trace id: 32 lowercase hex digits, not all zero",
  "path /version": "a full SemVer version like 1.0.0",
  "path /workspaceId": "a Workspace id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /agentId": "an Agent id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /callerId": "a principal: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /capability": "a Skill id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /after": "after of an answer before, of the same Workspace",
  "query /cursor": "nextCursor of the page before",
  "query /errorCode": "an error code like TIMEOUT",
  "query /from": "the old version, a full SemVer version like 1.0.0",
  "query /installable": "true or false",
  "query /latest": "true or false",
  "query /limit": "a whole number from 1 to 100",
  "query /order": "newest or slowest for Invocations and Traces, relevance or newest for Agents",
  "query /ownerId": "a principal: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /query": "1 to 256 characters, not blank",
  "query /reason": "a reason like connect_failed",
  "query /releaseId": "a Release id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "query /role": "owner or caller",
  "query /root": "true or false",
  "query /since": "a time with its offset, like 2026-03-01T00:00:00Z; whole minutes for figures",
  "query /status": "pending, routing, running, succeeded, failed, canceled or timed_out",
  "query /step": "whole minutes in seconds, from 60 to 86400, with at most 400 steps in the window",
  "query /traceId": "a Trace id: 32 lowercase hex digits, not all zero",
  "query /until": "a time with its offset, like 2026-03-01T00:00:00Z, after since; whole minutes for figures",
  "body /workspaceId": "a Workspace id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /agentId": "an Agent id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /versionConstraint": "a version or a range like 1.2.0, ^1.2 or >=1 <3, at most 256 characters",
  "body /acceptedPermissions": "an array of permission ids, each once, possibly empty",
  "body /acceptedPermissions/*": "a permission id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /replaces": "the id of an Installation: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /status": "enabled or disabled",
  "body /capability": "a Skill id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /input": "an object or a text",
  "body /stream": "true or false",
  "body /label": "a text of 1 to 128 characters without control characters, not blank",
  "body /days": "a whole number from 1 to 3650",
  "body /code": "a text of at most 256 characters",
  "body /endpoint": "the endpoint of the Card",
  "body /method": "http_well_known",
  "body /endpointBindingId": "a Binding id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /version": "a full SemVer version like 1.0.0",
  "body /schemaVersion": "\"0.2\"",
  "body /name": "a text of 1 to 120 characters, not blank",
  "body /description": "a text of 1 to 4000 characters, not blank",
  "body /owner": "an object with id and displayName",
  "body /owner/id": "the principal who publishes: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /owner/displayName": "a text of 1 to 120 characters, not blank",
  "body /protocol": "an object with type, version, transport and endpoint",
  "body /protocol/type": "\"a2a\"",
  "body /protocol/version": "\"0.3.0\"",
  "body /protocol/transport": "\"JSONRPC\"",
  "body /protocol/endpoint": "an absolute http or https address without user info, at most 2048 characters",
  "body /skills": "an array of at least one Skill",
  "body /skills/*": "an object with id, name, description, inputSchema, outputSchema and requiredPermissions",
  "body /skills/*/id": "a Skill id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /skills/*/name": "a text of 1 to 120 characters, not blank",
  "body /skills/*/description": "a text of 1 to 2000 characters, not blank",
  "body /skills/*/inputSchema": "a JSON Schema object",
  "body /skills/*/outputSchema": "a JSON Schema object",
  "body /skills/*/requiredPermissions": "an array of permission ids, each once, possibly empty",
  "body /skills/*/requiredPermissions/*": "a permission id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /authentication": "an object with type",
  "body /authentication/type": "none, api_key, http_bearer, oauth2_client_credentials or mutual_tls",
  "body /permissions": "an array of {id, description}, possibly empty",
  "body /permissions/*": "an object with id and description",
  "body /permissions/*/id": "a permission id: 1 to 128 letters, digits and . _ : -, the first a letter or digit",
  "body /permissions/*/description": "a text of 1 to 1000 characters, not blank",
  "body /limits": "an object with timeoutMs, maxInputBytes, maxOutputBytes and streaming",
  "body /limits/timeoutMs": "a whole number from 1 to 600000",
  "body /limits/maxInputBytes": "a whole number from 1 to 2147483647",
  "body /limits/maxOutputBytes": "a whole number from 1 to 2147483647",
  "body /limits/streaming": "true or false",
}

/** The forms of identifiers, versions, digests and times. */
export const PATTERNS = {
  safeIdentifier: new RegExp("^[0-9A-Za-z][-.0-9:A-Z_a-z]{0,127}$"),
  agentVersion: new RegExp("^(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)(?:-(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$"),
  digest: new RegExp("^[0-9a-f]{64}$"),
  timestamp: new RegExp("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$"),
  traceId: new RegExp("^[0-9a-f]{32}$"),
  installationId: new RegExp("^inst_[0-9a-f]{32}$"),
  bindingId: new RegExp("^bind_[0-9a-f]{32}$"),
  challengeId: new RegExp("^chal_[0-9a-f]{32}$"),
  releaseId: new RegExp("^rel_[0-9a-f]{32}$"),
  invocationId: new RegExp("^inv_[0-9a-f]{32}$"),
  rootTaskId: new RegExp("^task_[0-9a-f]{32}$"),
  eventId: new RegExp("^evt_[0-9a-f]{32}$"),
  tokenId: new RegExp("^tok_[0-9a-f]{32}$"),
  publicAgentId: new RegExp("^agt_[0-9a-f]{32}$"),
} as const

/** First and last code point of characters that are shown as marks, and what they are. */
export const HIDDEN_CHARACTERS: ReadonlyArray<readonly [number, number, string]> = [
  [0x0000, 0x001F, "control character"],
  [0x007F, 0x007F, "delete"],
  [0x0080, 0x009F, "C1 control character"],
  [0x00AD, 0x00AD, "soft hyphen"],
  [0x034F, 0x034F, "combining grapheme joiner"],
  [0x061C, 0x061C, "Arabic letter mark"],
  [0x115F, 0x1160, "Hangul filler"],
  [0x17B4, 0x17B5, "Khmer inherent vowel"],
  [0x180B, 0x180F, "Mongolian variation selector or vowel separator"],
  [0x200B, 0x200B, "zero width space"],
  [0x200C, 0x200C, "zero width non-joiner"],
  [0x200D, 0x200D, "zero width joiner"],
  [0x200E, 0x200E, "left-to-right mark"],
  [0x200F, 0x200F, "right-to-left mark"],
  [0x2028, 0x2028, "line separator"],
  [0x2029, 0x2029, "paragraph separator"],
  [0x202A, 0x202A, "left-to-right embedding"],
  [0x202B, 0x202B, "right-to-left embedding"],
  [0x202C, 0x202C, "pop directional formatting"],
  [0x202D, 0x202D, "left-to-right override"],
  [0x202E, 0x202E, "right-to-left override"],
  [0x2060, 0x2065, "invisible operator"],
  [0x2066, 0x2066, "left-to-right isolate"],
  [0x2067, 0x2067, "right-to-left isolate"],
  [0x2068, 0x2068, "first strong isolate"],
  [0x2069, 0x2069, "pop directional isolate"],
  [0x206A, 0x206F, "deprecated format character"],
  [0x2800, 0x2800, "blank Braille pattern"],
  [0x3164, 0x3164, "Hangul filler"],
  [0xD800, 0xDFFF, "lone surrogate"],
  [0xE000, 0xF8FF, "private use character"],
  [0xFDD0, 0xFDEF, "noncharacter"],
  [0xFE00, 0xFE0D, "variation selector"],
  [0xFEFF, 0xFEFF, "byte order mark"],
  [0xFFA0, 0xFFA0, "Hangul filler"],
  [0xFFF0, 0xFFFB, "interlinear annotation or reserved format character"],
  [0xFFFE, 0xFFFF, "noncharacter"],
  [0x13430, 0x1343F, "hieroglyph format control"],
  [0x1BCA0, 0x1BCA3, "shorthand format control"],
  [0x1D173, 0x1D17A, "musical format control"],
  [0xE0000, 0xE0FFF, "tag, variation selector or reserved format character"],
  [0xF0000, 0x10FFFF, "private use character or noncharacter"],
]

/** The same for variation selectors, hidden unless they follow one of these. */
export const EMOJI_SELECTORS = {
  range: [0xFE0E, 0xFE0F, "variation selector"],
  after: [[0x0023, 0x0023], [0x002A, 0x002A], [0x0030, 0x0039], [0x00A9, 0x00A9], [0x00AE, 0x00AE], [0x203C, 0x203C], [0x2049, 0x2049], [0x2100, 0x2BFF], [0x3030, 0x3030], [0x303D, 0x303D], [0x3297, 0x3297], [0x3299, 0x3299], [0x1F000, 0x1FAFF]],
} as const

/** The letters of scripts that are confused with one another. */
export const CONFUSED_SCRIPTS = {
  Latin: [[0x0041, 0x005A], [0x0061, 0x007A], [0x00AA, 0x00AA], [0x00BA, 0x00BA], [0x00C0, 0x00D6], [0x00D8, 0x00F6], [0x00F8, 0x02B8], [0x1E00, 0x1EFF], [0x2C60, 0x2C7F], [0xA722, 0xA787], [0xA78B, 0xA7FF], [0xAB30, 0xAB6F], [0xFB00, 0xFB06], [0xFF21, 0xFF3A], [0xFF41, 0xFF5A]],
  Greek: [[0x0370, 0x0373], [0x0375, 0x037D], [0x037F, 0x037F], [0x0386, 0x0386], [0x0388, 0x03E1], [0x03F0, 0x03FF], [0x1F00, 0x1FFF]],
  Coptic: [[0x03E2, 0x03EF], [0x2C80, 0x2CFF]],
  Cyrillic: [[0x0400, 0x052F], [0x1C80, 0x1C8F], [0x2DE0, 0x2DFF], [0xA640, 0xA69F]],
  Armenian: [[0x0531, 0x058A], [0xFB13, 0xFB17]],
  Georgian: [[0x10A0, 0x10FF], [0x1C90, 0x1CBF], [0x2D00, 0x2D2F]],
  Cherokee: [[0x13A0, 0x13FF], [0xAB70, 0xABBF]],
  Lisu: [[0xA4D0, 0xA4FF]],
} as const

export const WORD_BREAKS = [[0x0000, 0x002F], [0x003A, 0x0040], [0x005B, 0x0060], [0x007B, 0x00A0], [0x2000, 0x206F], [0x3000, 0x3000]] as const

// Generated from contracts/ by `./dev console types`; change the contracts, not this file.

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export type JsonObject = { readonly [member: string]: Json }

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

/** One Agent with the versions the caller may see, newest first; one page of them. */
export type AgentOverview = {
  readonly agentId: SafeIdentifier
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  readonly versions: ReadonlyArray<CatalogEntry>
  /** Present only when more exists; opaque. */
  readonly nextCursor?: string
}

/** A SemVer 2.0.0 version in full strictness, at most 128 characters. */
export type AgentVersion = string

/** Identifies one Endpoint Binding. */
export type BindingId = string

/** Who issued an Invocation: a user for roots, an Agent for children; 'service' is reserved. */
export type Caller = {
  readonly type: "user" | "agent" | "service"
  readonly id: SafeIdentifier
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

/** Answer of the Gateway's status read. */
export type HealthPlatformStatus = {
  readonly controlPlane: HealthStatus
  readonly router: HealthStatus
  /** The Router's view of the topology watch, or `unavailable` when the Router cannot be asked. */
  readonly topology: "initializing" | "live" | "lost" | "unavailable"
}

export type HealthStatus = "ok" | "unavailable"

/** Asks for an Agent in a Workspace and accepts permissions explicitly. */
export type InstallRequest = {
  readonly agentId: SafeIdentifier
  /** SemVer range; text that is blank or not a range breaks rule constraint_syntax. */
  readonly versionConstraint: string
  /** May be empty; each id is declared by the chosen Card (rule permission_undeclared). */
  readonly acceptedPermissions: ReadonlyArray<SafeIdentifier>
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
}

/** Identifies one Installation. */
export type InstallationId = string

export type InstallationPage = {
  readonly items: ReadonlyArray<Installation>
  readonly nextCursor?: NextCursor
}

/** `uninstalled` records are history. */
export type InstallationStatus = "enabled" | "disabled" | "uninstalled"

/** Enables or disables an Installation. */
export type InstallationUpdate = {
  readonly status: "enabled" | "disabled"
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
  readonly nextCursor?: NextCursor
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
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly deadlineAt: Timestamp
}

export type InvocationRecordStatus = "pending" | "routing" | "running" | "succeeded" | "failed" | "canceled" | "timed_out"

/** Body of POST /v1/workspaces/:workspaceId/invocations. */
export type InvocationRequest = {
  readonly agentId: SafeIdentifier
  /** The id of a Skill of the installed Agent. */
  readonly capability: SafeIdentifier
  /** Free: judged against the Skill's inputSchema; its bytes reach the Agent unchanged. */
  readonly input: JsonObject
  /** Selects the result mode and must agree with Accept. */
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

/** Only when more exists; opaque. */
export type NextCursor = string

/** A refusal or failure on the invocation surfaces: before acceptance without Invocation ids, after acceptance with both. */
export type PlatformError = {
  readonly code: PlatformErrorCode
  /** The fixed message of the code, as codes.json gives it. */
  readonly message: string
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
  readonly traceId: TraceId
  readonly invocationId: InvocationId
  readonly rootTaskId: RootTaskId
}

/** Where a request breaks the contract and by which rule; never a value. */
export type PlatformErrorViolation = {
  /** JSON Pointer into the body ('' is the whole body), or '/' and a parameter name. Holds array indices and declared member names only. */
  readonly pointer: string
  /** The JSON Schema keyword or the named rule that was broken. */
  readonly rule: string
}

/** The stable public id of an Agent; it never changes. */
export type PublicAgentId = string

/** What anyone may read of an Agent: its canonical public URL and its eligible published Releases. */
export type PublicAgentShare = {
  readonly schemaVersion: "1"
  readonly publicAgentId: PublicAgentId
  readonly publicUrl: CatalogEntryPublicUrl
  /** `installable` when a Release is listed. */
  readonly availability: "installable" | "not_installable"
  /** Newest first; at most the newest 100. */
  readonly releases: ReadonlyArray<PublicAgentShareRelease>
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

export type ReleasePage = {
  readonly items: ReadonlyArray<Release>
  readonly nextCursor?: NextCursor
}

/** `draft` is reserved and not produced; `revoked` is final. */
export type ReleaseState = "draft" | "pending_verification" | "verified" | "published" | "suspended" | "revoked"

/** Identifies the root Task of a lineage. */
export type RootTaskId = string

/** 1 to 128 ASCII characters: a letter or digit, then letters, digits, '.', '_', ':' or '-'. Compared exactly. */
export type SafeIdentifier = string

/** An instant in UTC with exactly six fraction digits. */
export type Timestamp = string

/** The lineage of one root Task: parents before children, every parent present. */
export type Trace = {
  readonly traceId: TraceId
  readonly invocations: ReadonlyArray<InvocationRecord>
}

/** 32 lowercase hex digits, not all zero. */
export type TraceId = string

/** A minimal container that belongs to the principal who created it. */
export type Workspace = {
  readonly workspaceId: SafeIdentifier
  /** The creating principal; immutable. */
  readonly ownerId: SafeIdentifier
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** Body of the create call. */
export type WorkspaceCreateRequest = {
  readonly workspaceId: SafeIdentifier
}

export type WorkspacePage = {
  readonly items: ReadonlyArray<Workspace>
  readonly nextCursor?: NextCursor
}

/** What each operation of the Gateway takes and answers. */
export interface Operations {
  discoverAgents: {query: { query?: string; capability?: SafeIdentifier; ownerId?: SafeIdentifier; latest?: boolean; installable?: boolean; limit?: number; cursor?: string }; answer: DiscoveryPage}
  registerAgentCard: {body: AgentCard; answer: CatalogEntry}
  readAgentOverview: {path: { agentId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: AgentOverview}
  readAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: AgentCard}
  publishAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: CatalogEntry}
  disableAgentCard: {path: { agentId: SafeIdentifier; version: AgentVersion }; answer: CatalogEntry}
  readPublicAgent: {path: { publicAgentId: PublicAgentId }; answer: PublicAgentShare}
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
  readPlatformStatus: {answer: HealthPlatformStatus}
  listWorkspaces: {query: { limit?: number; cursor?: string }; answer: WorkspacePage}
  createWorkspace: {body: WorkspaceCreateRequest; answer: Workspace}
  readWorkspace: {path: { workspaceId: SafeIdentifier }; answer: Workspace}
  listInstallations: {path: { workspaceId: SafeIdentifier }; query: { limit?: number; cursor?: string }; answer: InstallationPage}
  installAgent: {path: { workspaceId: SafeIdentifier }; body: InstallRequest; answer: Installation}
  readInstallation: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; answer: Installation}
  updateInstallation: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; body: InstallationUpdate; answer: Installation}
  uninstallAgent: {path: { workspaceId: SafeIdentifier; installationId: SafeIdentifier }; answer: Installation}
  listInvocations: {path: { workspaceId: SafeIdentifier }; query: { status?: InvocationRecordStatus; agentId?: SafeIdentifier; capability?: SafeIdentifier; since?: string; until?: string; limit?: number; cursor?: string }; answer: InvocationPage}
  invokeAgent: {path: { workspaceId: SafeIdentifier }; body: InvocationRequest; answer: InvocationResult}
  readInvocation: {path: { workspaceId: SafeIdentifier; invocationId: SafeIdentifier }; answer: InvocationDetail}
  readTrace: {path: { workspaceId: SafeIdentifier; traceId: TraceId }; answer: Trace}
}

export type OperationId = keyof Operations

export const OPERATIONS: Readonly<Record<OperationId, { method: string; path: string }>> = {
  discoverAgents: { method: "GET", path: "/v1/agents" },
  registerAgentCard: { method: "POST", path: "/v1/agents" },
  readAgentOverview: { method: "GET", path: "/v1/agents/{agentId}" },
  readAgentCard: { method: "GET", path: "/v1/agents/{agentId}/versions/{version}" },
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
  readPlatformStatus: { method: "GET", path: "/v1/status" },
  listWorkspaces: { method: "GET", path: "/v1/workspaces" },
  createWorkspace: { method: "POST", path: "/v1/workspaces" },
  readWorkspace: { method: "GET", path: "/v1/workspaces/{workspaceId}" },
  listInstallations: { method: "GET", path: "/v1/workspaces/{workspaceId}/installations" },
  installAgent: { method: "POST", path: "/v1/workspaces/{workspaceId}/installations" },
  readInstallation: { method: "GET", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  updateInstallation: { method: "PATCH", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  uninstallAgent: { method: "DELETE", path: "/v1/workspaces/{workspaceId}/installations/{installationId}" },
  listInvocations: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations" },
  invokeAgent: { method: "POST", path: "/v1/workspaces/{workspaceId}/invocations" },
  readInvocation: { method: "GET", path: "/v1/workspaces/{workspaceId}/invocations/{invocationId}" },
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
  CAPABILITY_NOT_ALLOWED: { owner: "workspace_owner", action: "Name a Skill of the installed version; if its permissions were not accepted, uninstall the Agent and install it again with them." },
  DISALLOWED_NETWORK: { owner: "provider", action: "Use an endpoint that the platform's network policy permits; a changed endpoint needs a new Card version and Binding." },
  NOT_FOUND: { owner: "caller", action: "Check every identifier of the request; list what exists to find the right one." },
  AGENT_NOT_INSTALLED: { owner: "workspace_owner", action: "Install the Agent in this Workspace, then invoke again." },
  NOT_ACCEPTABLE: { owner: "caller", action: "Let Accept agree with `stream`: application/json for a result, text/event-stream for a stream." },
  CONFLICT: { owner: "caller", action: "Read the current state; do only what it still permits." },
  CANCELED: { owner: "caller", action: "The Invocation stays canceled. Invoke again if its output is still wanted." },
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
  AGENT_RESPONSE_TOO_LARGE: { owner: "provider", action: "Answer with less than the Card's maxOutputBytes and the platform's limit, or raise maxOutputBytes in a new Card version. Then invoke again." },
  AGENT_EXECUTION_FAILED: { owner: "provider", action: "Find the cause in the Agent's own log by the trace. The Invocation stays failed; invoke again for a new result." },
  A2A_PROTOCOL_ERROR: { owner: "provider", action: "Let the Agent's answers follow the A2A profile and the Skill's output schema; `aop agent check` names the difference. Then invoke again." },
  ROUTE_NOT_FOUND: { owner: "provider", action: "Invoke without streaming if the Card offers none; otherwise the endpoint must lie in a network that the policy permits." },
  AGENT_UNAVAILABLE: { owner: "provider", action: "Restore the endpoint or publish a new version. The Invocation stays failed; invoke again for a new result." },
  ENDPOINT_UNAVAILABLE: { owner: "provider", action: "Make the endpoint reachable, then create a fresh challenge, serve its exact proof, and complete it once before it expires." },
  DEPENDENCY_ERROR: { owner: "platform_operator", action: "Restore the failing part; the status of the platform names it. A caller reads the Trace or the state first and then decides whether to call again." },
  OVERLOADED: { owner: "caller", action: "Nothing was started. Call again later, not before the time of Retry-After." },
  TIMEOUT: { owner: "caller", action: "The Invocation stays timed out. Invoke again with less work; the limit is the smaller of the Card's timeoutMs and the platform's." },
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
  publicAgentId: new RegExp("^agt_[0-9a-f]{32}$"),
} as const

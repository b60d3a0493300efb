import type { Engine } from '../lib/engine/engine.ts'
import type { Keyring } from '../lib/engine/keyring.ts'
import type { Clock, RandomBytes } from '../lib/engine/ports.ts'
import type { KeyCaches } from '../lib/engine/key-caches.ts'
import type { Verifier } from '../lib/engine/verifier.ts'
import type { ScopeUniverse } from '../lib/scope/syntax.ts'
import type { Instant } from '../lib/time.ts'
import type { BrandNames } from '../lib/webhook/headers.ts'
import type { AppBytes } from '../plugins/apps/contract.ts'
import type { Deployer } from '../plugins/deploy/contract.ts'
import type { Editor } from '../plugins/edits/contract.ts'
import type { EgressClient, NameLookup } from '../plugins/egress/contract.ts'
import type { Embedder } from '../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../plugins/files/contract.ts'
import type { PlatformStore, PlatformTx } from '../plugins/platform/contract.ts'
import type { JobKindName } from '../plugins/platform/contract/jobs.ts'
import type { Access } from './authority/admission.ts'
import type { OperatorSessions } from './authority/operator-session.ts'
import type { SettingInForce } from './config/in-force.ts'
import type { DaemonStatus } from './telemetry/status.ts'
import type { AppDirectory } from './authority/app-directory.ts'
import type { Billing } from './billing/billing.ts'
import type { EventPositions } from './events/positions.ts'
import type { Destinations } from './events/sender.ts'
import type { EventTypes } from './events/types.ts'
import type { FairQueue } from './queues/fair-queue.ts'
import type { SearchQueue } from './queues/reads.ts'
import type { AppRecord } from '../plugins/platform/contract/apps.ts'
import type { Principal, Via } from './authority/principal.ts'

/** The names that this service knows. */
export interface Catalogue {
  /** The brand. */
  readonly service: string
  readonly version: string
  readonly families: readonly {
    readonly name: string
    readonly operations: readonly {
      readonly id: string
      readonly method: string
      readonly path: string
      readonly access: Access
      readonly scope: string | null
      /** Null where agents are offered none. */
      readonly tool: CatalogueTool | null
    }[]
  }[]
  readonly skills: readonly CatalogueSkill[]
}

/** Work that another agent may ask for. */
export interface CatalogueSkill {
  /** Name of its tool. */
  readonly id: string
  readonly operation: string
  /** `Change an app` */
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples: readonly string[]
  readonly access: Access
  /** Scopes with which it returns everything. */
  readonly scopes: readonly string[]
}

/** An operation as agents know it. */
export interface CatalogueTool {
  readonly name: string
  readonly toolset: string
  /** Whether a client that chooses no tools gets it. */
  readonly default: boolean
  /** Name of its skill; null without one. */
  readonly skill: string | null
}

/** Notifies the workers of this process that work is available. */
export interface WorkAvailable {
  /** Jobs of a kind were enqueued, or are to stop. */
  readonly jobs: Notifier<readonly [kind: JobKindName]>
  /** Files were deleted; their passages remain. */
  readonly removed: Notifier
  /** An app may have stored bytes that nothing references. */
  readonly bytes: Notifier<readonly [appId: string]>
}

export interface Notifier<Args extends readonly unknown[] = readonly []> {
  (...args: Args): void
  /**
   * @returns a function that stops listening
   */
  listen(listener: (...args: Args) => void): () => void
}

/** Addresses of apps, each below one domain. */
export interface AppsHosting {
  /** Lower case, without a port. */
  readonly domain: string
  /** The URL of a name below the domain, without a trailing slash. */
  urlOf(name: string): string
}

/** Time, randomness and ids. */
export interface Machine {
  readonly clock: Clock
  readonly random: RandomBytes
  /** Time-ordered unique ids (UUIDv7). */
  readonly newId: () => string
}

/** Keys and webhooks. */
/** As `KeyCaches`, whose first lease is preceded by a mark in the store: a process that follows waits for holders. */
export interface RememberedCaches extends Omit<KeyCaches, 'renew'> {
  /** As in `KeyCaches`. */
  renew(...args: Parameters<KeyCaches['renew']>): Promise<ReturnType<KeyCaches['renew']>>
}

export interface Kernel {
  readonly engine: Engine
  readonly verifier: Verifier
  /** Leases of caches that other backends hold. */
  readonly keyCaches: RememberedCaches
  readonly keyring: Keyring
  readonly universe: ScopeUniverse
  readonly names: BrandNames
  readonly eventTypes: EventTypes
  readonly eventPositions: EventPositions
}

/** The opened plugins. */
export interface Plugins {
  readonly egress: EgressClient
  /** Looks up DNS records of hostnames. */
  readonly nameLookup: NameLookup
  /** Store of app files; undefined: none. */
  readonly appBytes?: AppBytes | undefined
  /** Makes releases of apps; undefined: apps cannot be published. */
  readonly deployer?: Deployer | undefined
  /** Runs prompts. */
  readonly editor: Editor
  /** Reads knowledge files; undefined: none are accepted. */
  readonly fileProcessor?: FileProcessor | undefined
  /** Where webhooks may send besides https, by type. */
  readonly destinations: Destinations
  /** Computes embeddings; undefined: knowledge is searched by words only. */
  readonly embedder?: Embedder | undefined
}

/** Queues in which accounts share this process; one set per process. */
export interface Queues {
  /** Edits and clones, which use CPU, memory and disk. */
  readonly applying: FairQueue
  /** Pages of large records, pages of filtered lists and file trees: reading them uses CPU and memory. */
  readonly largePages: FairQueue
  /** Reads of streams and long polls. */
  readonly polls: FairQueue
  /** Units of work of requests; `writeInTurn` runs one. */
  readonly writes: FairQueue
  /** Replays and retries of many deliveries. */
  readonly replays: FairQueue
  /** Searches of knowledge. */
  readonly searches: SearchQueue
}

/** Identity and limits of this service. */
export interface Service {
  readonly catalogue: Catalogue
  /** Address that clients see, without a trailing slash. */
  readonly baseUrl: string
  /** Whether MCP and A2A are served below it. */
  readonly agentProtocols: boolean
  /** Maximum live keys of an account without its own limit. */
  readonly keyLimit: number
  /** Requests per minute of one caller; 0 for no limit. */
  readonly rates: { readonly reads: number; readonly writes: number }
  /** Whether webhooks also get the Standard Webhooks headers by default. */
  readonly standardHeaders: boolean
  /** Models that callers may name; a prompt without one uses the editor's default. */
  readonly models: readonly string[]
  /** Addresses of published apps; undefined when apps are not served. */
  readonly appsHosting?: AppsHosting | undefined
  /** Apps that keys may be pinned to and webhooks may filter by. */
  readonly appDirectory: AppDirectory
  /** Extensions of apps by the served families, in their order. */
  readonly appExtensions: readonly AppExtension[]
}

/** What the process knows for its operator. */
export interface Operating {
  /** Whether a token is the operator's. */
  proves(token: string): boolean
  /** Undefined without an operator token. */
  readonly sessions: OperatorSessions | undefined
  status(): Promise<ServiceStatus>
  /** Settings in force; never the value of a secret. */
  settings(): readonly SettingInForce[]
}

/** What `keyhook status` shows, and the room that is left. */
export interface ServiceStatus extends DaemonStatus {
  readonly node_version: string
  readonly database: { readonly kind: 'sqlite' | 'postgres'; readonly bytes: number | null }
  readonly disk: { readonly free_bytes: number; readonly total_bytes: number }
}

/** Everything that families depend on; created once by the composition root. */
export interface Platform extends Machine, Kernel, Service {
  readonly store: PlatformStore
  readonly plugins: Plugins
  /** Prices of work, and who can pay for it. */
  readonly billing: Billing
  readonly queues: Queues
  readonly workAvailable: WorkAvailable
  /** Undefined where Keyhook is embedded. */
  readonly operating?: Operating | undefined
}

/** A change in progress. */
export interface Changing {
  readonly platform: Platform
  readonly tx: PlatformTx
  readonly principal: Principal
  readonly now: Instant
  readonly requestId: string
  readonly ip: string
  /** Null: it was not called over a protocol. */
  readonly via: Via | null
}

/** Extension of apps by another family, so that the apps family does not depend on it. */
export interface AppExtension {
  /** Cancels its work for an app that is being archived, and unpublishes what it shows. */
  archiving?(change: Changing, app: AppRecord): Promise<void>
  /** Creates apps from prompts; at most one family has it. */
  readonly making?: AppMaking
}

export interface AppMaking {
  /**
   * @param model the model that the caller names; undefined for the default
   * @throws KeyhookError without an editor, or when callers may not name the model
   */
  require(platform: Pick<Platform, 'plugins' | 'models'>, model: string | undefined): void
  /**
   * Begins making an app with status `creating`.
   *
   * @param id of the edit that makes it, which is published with the app
   */
  begin(
    change: Changing,
    app: AppRecord,
    wish: { readonly id: string; readonly prompt: string; readonly model: string | null },
  ): Promise<void>
}

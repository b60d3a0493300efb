import type { Engine } from '../lib/engine/engine.ts'
import type { Keyring } from '../lib/engine/keyring.ts'
import type { Clock, RandomBytes } from '../lib/engine/ports.ts'
import type { Verifier } from '../lib/engine/verifier.ts'
import type { ScopeUniverse } from '../lib/scope/syntax.ts'
import type { Instant } from '../lib/time.ts'
import type { BrandNames } from '../lib/webhook/headers.ts'
import type { AppBytes } from '../plugins/apps/contract.ts'
import type { Billing } from '../plugins/billing/contract.ts'
import type { Deployer } from '../plugins/deploy/contract.ts'
import type { Editor } from '../plugins/edits/contract.ts'
import type { EgressClient, NameLookup } from '../plugins/egress/contract.ts'
import type { Embedder } from '../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../plugins/files/contract.ts'
import type { PlatformStore, PlatformTx } from '../plugins/platform/contract.ts'
import type { JobKindName } from '../plugins/platform/contract/jobs.ts'
import type { AppDirectory } from './authority/app-directory.ts'
import type { EventPositions } from './events/positions.ts'
import type { EventTypes } from './events/types.ts'
import type { FairQueue } from './queues/fair-queue.ts'
import type { SearchQueue } from './queues/reads.ts'
import type { AppRecord } from '../plugins/platform/contract/apps.ts'
import type { Principal } from './authority/principal.ts'

/** What there is to be asked for, as data. */
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
      readonly scope: string | null
    }[]
  }[]
}

/** Tells the workers of this process that something waits for them, while they listen. */
export interface WorkAvailable {
  /** Jobs of a kind were enqueued, or are to stop. */
  readonly jobs: Notifier<readonly [kind: JobKindName]>
  /** Files were deleted, whose passages are left. */
  readonly removed: Notifier
  /** Bytes of an app may be there that nothing names, or will. */
  readonly bytes: Notifier<readonly [appId: string]>
}

export interface Notifier<Args extends readonly unknown[] = readonly []> {
  (...args: Args): void
  /** @returns a function that ends the listening */
  listen(listener: (...args: Args) => void): () => void
}

/** Where apps are seen, each under a name of its own. */
export interface AppsHosting {
  /** Lower case, without a port. */
  readonly domain: string
  /** The address of what bears a name below the domain, without a slash at the end. */
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
export interface Kernel {
  readonly engine: Engine
  readonly verifier: Verifier
  readonly keyring: Keyring
  readonly universe: ScopeUniverse
  readonly names: BrandNames
  readonly eventTypes: EventTypes
  readonly eventPositions: EventPositions
}

/** What plugins do. */
export interface Plugins {
  readonly egress: EgressClient
  /** Asks what the owners of hostnames put into the DNS. */
  readonly nameLookup: NameLookup
  /** Where the files of apps are kept; without it there are none. */
  readonly appBytes?: AppBytes | undefined
  /** What work costs, and who can pay for it. */
  readonly billing: Billing<PlatformTx>
  /** What makes releases of apps; without it none is published. */
  readonly deployer?: Deployer | undefined
  /** What carries out prompts. */
  readonly editor: Editor
  /** What reads knowledge files; without it none are taken. */
  readonly fileProcessor?: FileProcessor | undefined
  /** What makes vectors of texts; without it knowledge is searched by words alone. */
  readonly embedder?: Embedder | undefined
}

/** Where work waits that accounts share this process for; one of each for a process. */
export interface Queues {
  /** Where edits and clones wait until they are made: it takes CPU, memory and disk. */
  readonly applying: FairQueue
  /**
   * Where pages of large records, pages of filtered lists and trees of files wait: reading them takes CPU
   * and memory.
   */
  readonly largePages: FairQueue
  /** Where reads of streams and long polls wait. */
  readonly polls: FairQueue
  /** Where units of work of requests wait; `writeInTurn` runs one. */
  readonly writes: FairQueue
  /** Where replays and retries of many deliveries wait. */
  readonly replays: FairQueue
  /** Where searches of knowledge wait. */
  readonly searches: SearchQueue
}

/** What this service is to its callers. */
export interface Service {
  readonly catalogue: Catalogue
  /** The address that clients see, without a trailing slash. */
  readonly baseUrl: string
  /** Live keys that an account without a limit of its own may hold. */
  readonly keyLimit: number
  /** Whether webhooks that do not say also get the headers of Standard Webhooks. */
  readonly standardHeaders: boolean
  /** Models that the operator allows callers to name; a prompt that names none uses the editor's own. */
  readonly models: readonly string[]
  /** Where apps are seen once they are published; without it they are nowhere. */
  readonly appsHosting?: AppsHosting | undefined
  /** Which apps keys may be pinned to, and webhooks hear of. */
  readonly appDirectory: AppDirectory
  /** What the families that are served add to apps, in their order. */
  readonly appExtensions: readonly AppExtension[]
}

/** What the families stand on; made once by the composition root. */
export interface Platform extends Machine, Kernel, Service {
  readonly store: PlatformStore
  readonly plugins: Plugins
  readonly queues: Queues
  readonly workAvailable: WorkAvailable
}

/** A change under way. */
export interface Changing {
  readonly platform: Platform
  readonly tx: PlatformTx
  readonly principal: Principal
  readonly now: Instant
  readonly requestId: string
  readonly ip: string
}

/** What a family adds to apps, which are another's: so that apps do without it. */
export interface AppExtension {
  /** Ends what it has under way for an app that is about to be archived, and takes away what it shows. */
  archiving?(change: Changing, app: AppRecord): Promise<void>
  /** Makes apps of prompts; at most one family does. */
  readonly making?: AppMaking
}

export interface AppMaking {
  /**
   * @param model the one that the caller names; undefined for the default
   * @throws KeyhookError where nothing carries out prompts, or callers may not name the model
   */
  require(platform: Pick<Platform, 'plugins' | 'models'>, model: string | undefined): void
  /**
   * Has an app that is `creating` made.
   *
   * @param id of the edit that makes it, which is told of with the app
   */
  begin(
    change: Changing,
    app: AppRecord,
    wish: { readonly id: string; readonly prompt: string; readonly model: string | null },
  ): Promise<void>
}

import type { Engine } from '../lib/engine/engine.ts'
import type { Keyring } from '../lib/engine/keyring.ts'
import type { Clock, RandomBytes } from '../lib/engine/ports.ts'
import type { Verifier } from '../lib/engine/verifier.ts'
import type { ScopeUniverse } from '../lib/scope/syntax.ts'
import type { BrandNames } from '../lib/webhook/headers.ts'
import type { AppBytes } from '../plugins/apps/contract.ts'
import type { Billing } from '../plugins/billing/contract.ts'
import type { Deployer } from '../plugins/deploy/contract.ts'
import type { Editor } from '../plugins/edits/contract.ts'
import type { EgressClient, NameLookup } from '../plugins/egress/contract.ts'
import type { Embedder } from '../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../plugins/files/contract.ts'
import type { PlatformStore, PlatformTx } from '../plugins/platform/contract.ts'
import type { AppDirectory } from './authority/app-directory.ts'
import type { EventPositions } from './events/positions.ts'
import type { EventTypes } from './events/types.ts'
import type { FairQueue } from './queues/fair-queue.ts'
import type { SearchQueue } from './queues/reads.ts'

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

/** Tells the workers of this process that something waits for them; nobody is told until they start. */
export interface Wake {
  deploys(): void
  edits(): void
  files(): void
  /** Files were deleted, whose passages are left. */
  removed(): void
  /** Bytes of an app may be there that nothing names, or will. */
  bytes(appId: string): void
}

/** Where apps are seen, each under a name of its own. */
export interface AppsPlace {
  /** Lower case, without a port. */
  readonly domain: string
  /** The address of what bears a name below the domain, without a slash at the end. */
  urlOf(name: string): string
}

/** What the families stand on; made once by the composition root. */
export interface Platform {
  readonly store: PlatformStore
  readonly engine: Engine
  readonly verifier: Verifier
  readonly egress: EgressClient
  /** Asks what the owners of hostnames put into the DNS. */
  readonly nameLookup: NameLookup
  /** Where the files of apps are kept; without it there are none. */
  readonly appBytes?: AppBytes | undefined
  /** What work costs, and who can pay for it. */
  readonly billing: Billing<PlatformTx>
  /** Where apps are seen once they are published; without it they are nowhere. */
  readonly appsPlace?: AppsPlace | undefined
  /** What makes releases of apps; without it none is published. */
  readonly deployer?: Deployer | undefined
  /** Where edits and clones wait until they are made: it takes CPU, memory and disk, which accounts share. */
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
  /** What carries out prompts. */
  readonly editor: Editor
  /** Models that the operator allows callers to name; a prompt that names none uses the editor's own. */
  readonly models: readonly string[]
  /** What reads knowledge files; without it none are taken. */
  readonly fileProcessor?: FileProcessor | undefined
  /** What makes vectors of texts; without it knowledge is searched by words alone. */
  readonly embedder?: Embedder | undefined
  readonly wake: Wake
  /** Which apps keys may be pinned to, and webhooks hear of. */
  readonly appDirectory: AppDirectory
  readonly eventTypes: EventTypes
  readonly eventPositions: EventPositions
  readonly keyring: Keyring
  readonly clock: Clock
  readonly random: RandomBytes
  /** Time-ordered unique ids (UUIDv7). */
  readonly newId: () => string
  readonly universe: ScopeUniverse
  /** Live keys that an account without a limit of its own may hold. */
  readonly keyLimit: number
  readonly catalogue: Catalogue
  readonly names: BrandNames
  /** Whether webhooks that do not say also get the headers of Standard Webhooks. */
  readonly standardHeaders: boolean
  /** The address that clients see, without a trailing slash. */
  readonly baseUrl: string
}

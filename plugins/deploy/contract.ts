/**
 * A deployer builds a release of an app's files and prepares it to be served. Records, generations and events
 * belong to the store and the daemon: a deployer reads and stores bytes, and never decides what is live.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { Kept, Manifest, ServedFile } from './manifest.ts'

export type { DeployErrorClass, DeployErrorCode } from './errors.ts'
export { DEPLOY_ERRORS, DeployError } from './errors.ts'
export type { Encoding, Kept, Manifest, ServedFile } from './manifest.ts'
export { ENCODINGS, printManifest, readManifest } from './manifest.ts'
export { plainManifest } from './manifest.ts'

export interface DeployTask {
  readonly deployment_id: string
  readonly app_id: string
  readonly files: readonly (Kept & { readonly path: string })[]
  readonly config: ReadonlyMap<string, string>
  /** Compressed files of earlier builds that may be reused, by the digests of the originals. */
  readonly forms: ReadonlyMap<string, ServedFile['encoded']>
}

export interface DeployTools {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** One of the task's files, or stored bytes. */
  read(sha256: string): Promise<AsyncIterable<Uint8Array>>
  /** Stores bytes of the release; storing the same bytes again is fine. */
  keep(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<Kept>
  /** One line of the build log. */
  log(message: string): void
  /** Reports progress. */
  progress(done: number, total: number): void
}

export interface Release {
  readonly deployment_id: string
  readonly app_id: string
  readonly manifest: Manifest
}

export interface Deployer {
  /**
   * Builds the manifest of a tree. It is deterministic; a failure leaves nothing that is served.
   *
   * Errors of the tools are thrown as is.
   *
   * @throws DeployError for what the owner of the app can fix
   */
  build(task: DeployTask, tools: DeployTools): Promise<Manifest>
  /**
   * Checks that all files of a release can be served, before it goes live. Called again with the same release
   * after a crash.
   *
   * It never changes what is live.
   *
   * @throws DeployError `file_gone` when a file of the release is missing
   */
  activate(release: Release, tools: DeployTools): Promise<void>
  close(): Promise<void>
}

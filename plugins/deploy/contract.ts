/**
 * Making a release of an app's files, and making ready where it is served. Records, turns and events are
 * the store's and the daemon's: a deployer is given bytes and keeps bytes, and never decides what is live.
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
  /** Forms of files that were made before and are kept, by the digests of the files; they may be used. */
  readonly forms: ReadonlyMap<string, ServedFile['encoded']>
}

export interface DeployTools {
  /** Ends the work: the call then rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** One of the task's files, or what was kept. */
  read(sha256: string): Promise<AsyncIterable<Uint8Array>>
  /** Keeps bytes of the release; the same bytes again are fine. */
  keep(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<Kept>
  /** One line for whoever deploys. */
  log(message: string): void
  /** How far it is. */
  progress(done: number, total: number): void
}

export interface Release {
  readonly deployment_id: string
  readonly app_id: string
  readonly manifest: Manifest
}

export interface Deployer {
  /**
   * Makes what is served of a tree. The same task again gives the same manifest; a failure leaves
   * nothing that is served.
   *
   * What the tools throw is thrown as it is.
   *
   * @throws DeployError for what the owner of the app can do something about
   */
  build(task: DeployTask, tools: DeployTools): Promise<Manifest>
  /**
   * Makes sure that everything of a release can be served, before anybody is led to it. Called again
   * after a crash: the same release again is fine.
   *
   * What is live is not touched by it, whether it resolves or rejects.
   *
   * @throws DeployError `file_gone` for a release of which something is not there any more
   */
  activate(release: Release, tools: DeployTools): Promise<void>
  close(): Promise<void>
}

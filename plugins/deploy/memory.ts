import { declareArguments } from '../../lib/internal/arguments.ts'
import type { Deployer } from './contract.ts'
import { DeployError } from './errors.ts'
import { plainManifest } from './manifest.ts'
import { readAll } from './verify.ts'

const readDeployer = declareArguments('createMemoryDeployer', {})

/**
 * The shortest deployer that meets the contract, without compression. For tests, and behind a proxy that
 * compresses.
 */
export function createMemoryDeployer(...args: readonly []): Deployer {
  readDeployer(args)
  return {
    async build({ files, config }, { signal }) {
      signal.throwIfAborted()
      const manifest = plainManifest(files, config)
      if (manifest.files.size === 0) throw new DeployError('nothing_to_serve')
      return manifest
    },
    async activate(release, tools) {
      tools.signal.throwIfAborted()
      await readAll(release, tools)
    },
    close: async () => undefined,
  }
}

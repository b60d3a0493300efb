import { KeyhookError } from '../../lib/errors.ts'
import type { DeployTools, Release } from './contract.ts'
import { DeployError } from './errors.ts'

/**
 * Reads everything that a release names, each once.
 *
 * @throws DeployError `file_gone` for a missing or damaged file
 */
export async function readAll({ manifest }: Release, tools: DeployTools): Promise<void> {
  const { signal, progress } = tools
  const sizes = new Map<string, number>()
  for (const { sha256, size, encoded } of manifest.files.values()) {
    sizes.set(sha256, size)
    for (const form of Object.values(encoded)) sizes.set(form.sha256, form.size)
  }
  let done = 0
  for (const [sha256, size] of sizes) {
    signal.throwIfAborted()
    if ((await lengthOf(sha256, tools)) !== size) {
      throw new DeployError('file_gone', { internal: `${sha256} is not of ${size} bytes` })
    }
    progress(++done, sizes.size)
  }
}

async function lengthOf(sha256: string, { read, signal }: DeployTools): Promise<number> {
  let length = 0
  try {
    for await (const chunk of await read(sha256)) {
      signal.throwIfAborted()
      length += chunk.length
    }
  } catch (cause) {
    const isDamaged = cause instanceof KeyhookError && cause.code.startsWith('bytes_')
    throw isDamaged ? new DeployError('file_gone', { cause }) : cause
  }
  return length
}

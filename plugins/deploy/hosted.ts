import type { Limiter } from '../../lib/internal/limiter.ts'
import { createLimiter } from '../../lib/internal/limiter.ts'
import { COMPRESS, BEST_OF, WORTH } from './compress.ts'
import type { Deployer, DeployTask, DeployTools } from './contract.ts'
import { DeployError } from './errors.ts'
import {
  type Encoding,
  ENCODINGS,
  type Kept,
  type Manifest,
  plainManifest,
  type ServedFile,
} from './manifest.ts'
import { mediaOf } from './media.ts'
import { readAll } from './verify.ts'

/** Smaller files fit in one packet anyway. */
const LEAST = 1024
/** Concurrent files per release, so that releases share the compressor. */
const AT_ONCE = 2

/**
 * Makes releases for this service's own hosting: files as they are, and beside what gets smaller by it
 * its compressed forms, so that nothing is compressed while somebody waits.
 *
 * @example
 * const deployer = createHostedDeployer()
 * const manifest = await deployer.build(task, tools)
 */
export function createHostedDeployer(): Deployer {
  const closing = new AbortController()

  function until(tools: DeployTools): DeployTools {
    return { ...tools, signal: AbortSignal.any([tools.signal, closing.signal]) }
  }

  return {
    async build(task, given) {
      const tools = until(given)
      tools.signal.throwIfAborted()
      const plain = plainManifest(task.files, task.config)
      const left = task.files.length - plain.files.size
      if (plain.files.size === 0) throw new DeployError('nothing_to_serve')
      if (left > 0) tools.log(`${left} hidden files and source maps are left out.`)
      const forms = await makeForms(plain, task, tools, createLimiter(AT_ONCE))
      const served = [...plain.files.values()].map((file) => ({
        ...file,
        encoded: isCompressed(file) ? (forms.get(file.sha256) ?? {}) : {},
      }))
      const compressed = served.filter(({ encoded }) => Object.keys(encoded).length > 0)
      tools.log(`${served.length} files are served, ${compressed.length} of them compressed.`)
      return { ...plain, files: new Map(served.map((file) => [file.path, file])) }
    },
    async activate(release, given) {
      const tools = until(given)
      tools.signal.throwIfAborted()
      await readAll(release, tools)
    },
    async close() {
      closing.abort(new DeployError('target_unavailable', { internal: 'closed' }))
    },
  }
}

function isCompressed({ path, size }: ServedFile): boolean {
  return size >= LEAST && mediaOf(path).compressible
}

type Forms = ReadonlyMap<string, ServedFile['encoded']>

/** Keeps the forms of files that are worth it, by the files' digests: of the same content once. */
async function makeForms(
  { files }: Manifest,
  { forms: known }: DeployTask,
  tools: DeployTools,
  limit: Limiter,
): Promise<Forms> {
  const sizes = new Map<string, number>()
  for (const file of files.values()) if (isCompressed(file)) sizes.set(file.sha256, file.size)
  const forms = new Map([...known].filter(([sha256]) => sizes.has(sha256)))
  const fresh = [...sizes].filter(([sha256]) => !forms.has(sha256))
  const isMuch = fresh.reduce((sum, [, size]) => sum + size, 0) > BEST_OF
  const failing = new AbortController()
  const signal = AbortSignal.any([tools.signal, failing.signal])
  let done = sizes.size - fresh.length
  const work = fresh.map(([sha256]) =>
    limit(async () => {
      signal.throwIfAborted()
      const bytes = await readWhole(sha256, { ...tools, signal })
      forms.set(sha256, await encode(bytes, isMuch, tools))
      tools.progress(++done, sizes.size)
    }),
  )
  await Promise.all(work).catch((cause: unknown) => {
    // Files that still wait are not started.
    failing.abort(cause)
    throw cause
  })
  return forms
}

async function encode(
  bytes: Uint8Array,
  isMuch: boolean,
  tools: DeployTools,
): Promise<ServedFile['encoded']> {
  const made = await Promise.all(
    ENCODINGS.map(async (encoding) => [encoding, await COMPRESS[encoding](bytes, isMuch)] as const),
  )
  const encoded: Partial<Record<Encoding, Kept>> = {}
  for (const [encoding, form] of made) {
    tools.signal.throwIfAborted()
    if (form.length <= WORTH * bytes.length) encoded[encoding] = await tools.keep(form)
  }
  return encoded
}

async function readWhole(sha256: string, { read, signal }: DeployTools): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await read(sha256)) {
    signal.throwIfAborted()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

import { createHash } from 'node:crypto'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { DeployTask, DeployTools, Deployer, Kept } from '../contract.ts'

/** What a deployer gives the suite; made anew for every case. */
export interface DeployHarness extends ConformanceHarness {
  readonly deployer: Deployer
}

export type DeployCase = ConformanceCase<DeployHarness>

export type Files = Readonly<Record<string, string | Uint8Array>>

/** An app's bytes in memory, and what was told of the work on them. */
export interface DeployWorld {
  readonly tools: DeployTools
  readonly kept: Map<string, Uint8Array>
  readonly told: (readonly [done: number, total: number])[]
  task(files: Files, config?: Readonly<Record<string, string>>): DeployTask
}

export function createWorld(changes: Partial<DeployTools> = {}): DeployWorld {
  const kept = new Map<string, Uint8Array>()
  const told: (readonly [number, number])[] = []
  const keep = (bytes: Uint8Array): Kept => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    kept.set(sha256, bytes)
    return { sha256, size: bytes.length }
  }
  const tools: DeployTools = {
    signal: new AbortController().signal,
    async read(sha256) {
      const bytes = kept.get(sha256)
      if (bytes === undefined) throw new Error(`${sha256} is not kept`)
      return pieces(bytes)
    },
    async keep(bytes) {
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) chunks.push(chunk)
      return keep(Buffer.concat(chunks))
    },
    log: () => undefined,
    progress: (done, total) => void told.push([done, total]),
    ...changes,
  }
  return {
    tools,
    kept,
    told,
    task: (files, config = {}) => ({
      deployment_id: 'dep_1',
      app_id: 'app00001',
      files: Object.entries(files).map(([path, content]) => ({
        path,
        ...keep(Buffer.from(content)),
      })),
      config: new Map(Object.entries(config)),
      forms: new Map(),
    }),
  }
}

const PIECE = 4096

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

/** A small app: a page that compresses well, its parts, and what is not for everybody. */
export const FILES: Files = {
  'index.html': `<!doctype html><title>Shop</title>${'<p>Tea and cake, every day.</p>\n'.repeat(200)}`,
  'about/index.html': '<h1>About</h1>',
  'assets/app-BfX3k9aQ.js': 'console.log("hello");\n'.repeat(300),
  'assets/app-BfX3k9aQ.js.map': '{"version":3}',
  'größe/ü.css': 'p { color: navy }\n',
  ['__proto__']: 'bytes',
  'empty.txt': '',
}

import { createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import t from 'tap'
import type { DeployTask, DeployTools } from '../../plugins/deploy/contract.ts'
import type { Kept } from '../../plugins/deploy/manifest.ts'

let running = 0
let most = 0

/** Takes a turn of the event loop, as what takes a thread takes some. */
function compress(bytes: Buffer, _: object, done: (error: null, form: Buffer) => void): void {
  running += 1
  most = Math.max(most, running)
  setImmediate(() => {
    running -= 1
    done(null, bytes.subarray(0, 9))
  })
}

// Before the deployer is loaded, which takes them from there.
Object.assign(zlib, { brotliCompress: compress, gzip: compress })
syncBuiltinESMExports()
const { COMPRESS } = await import('../../plugins/deploy/compress.ts')
const { createHostedDeployer } = await import('../../plugins/deploy/hosted.ts')

await t.test('two compressions are under way at most, of all that are asked for', async (t) => {
  const texts = ['one', 'two', 'three'].map((text) => Buffer.from(text))
  const forms = await Promise.all(
    texts.flatMap((text) => [COMPRESS.br(text, true), COMPRESS.gzip(text, true)]),
  )
  t.equal(most, 2)
  t.same(
    forms,
    texts.flatMap((text) => [text, text]),
  )
})

await t.test('a large release does not hold up a small one', async (t) => {
  const deployer = createHostedDeployer()
  const ended: string[] = []
  const build = async (name: string, files: number): Promise<void> => {
    await deployer.build(...releaseOf(name, files))
    ended.push(name)
  }
  await Promise.all([build('large', 300), build('small', 3)])
  t.same(ended, ['small', 'large'])
})

function releaseOf(name: string, count: number): [DeployTask, DeployTools] {
  const kept = new Map<string, Buffer>()
  const keep = async (bytes: Uint8Array): Promise<Kept> => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    kept.set(sha256, Buffer.from(bytes))
    return { sha256, size: bytes.length }
  }
  const files = Array.from({ length: count }, (_, index) => {
    const path = `${name}-${index}.html`
    const text = Buffer.from(path.repeat(200))
    const sha256 = createHash('sha256').update(text).digest('hex')
    kept.set(sha256, text)
    return { path, sha256, size: text.length }
  })
  const tools: DeployTools = {
    signal: new AbortController().signal,
    log: () => undefined,
    progress: () => undefined,
    read: async (sha256) => Readable.from([kept.get(sha256) ?? Buffer.alloc(0)]),
    keep,
  }
  return [{ deployment_id: name, app_id: name, files, config: new Map(), forms: new Map() }, tools]
}

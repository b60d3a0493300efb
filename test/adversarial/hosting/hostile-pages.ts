/** A listener of apps with large hostile pages, in a process of its own: it tells its port and its memory. */
import { manifestOf } from '../../support/hosted-apps.ts'
import type { ServedFile } from '../../../plugins/deploy/contract.ts'
import type { ByteRange } from '../../../plugins/apps/contract.ts'
import { createMemoryBytes } from '../../../plugins/apps/memory.ts'
import { DEPLOYMENT, openHosting } from '../../support/hosting.ts'
import { chunksOf, digestOf, HOSTILE_APPS, PAGE_SIZE, PAGES_PER_APP } from './large-pages.ts'

const SAMPLE_MS = 10

const names = ['good', ...Array.from({ length: PAGES_PER_APP }, (_, at) => `p${at}`)]
const pages = new Map<string, () => Iterable<Uint8Array>>()
const hosting = await openHosting(
  { teardown: () => undefined },
  {
    bytes: {
      ...createMemoryBytes({ clock: { now: Date.now } }),
      open: async (_, sha256, range) => readSlowly(pages.get(sha256)?.() ?? [], range),
    },
  },
)

/** As a disk is read: others go on between two chunks. */
async function* readSlowly(
  chunks: Iterable<Uint8Array>,
  { start, end }: ByteRange = { start: 0, end: PAGE_SIZE },
): AsyncGenerator<Uint8Array> {
  let at = 0
  for (const chunk of chunks) {
    await new Promise((resolve) => setImmediate(resolve))
    const part = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += chunk.length
    if (part.length > 0) yield part
  }
}

for (let app = 0; app < HOSTILE_APPS; app += 1) {
  const files = new Map<string, ServedFile>()
  for (const name of names) {
    const path = `${name}.html`
    const sha256 = digestOf(app, name)
    pages.set(sha256, () => chunksOf(app, name))
    files.set(path, {
      path,
      sha256,
      size: PAGE_SIZE,
      type: 'text/html; charset=utf-8',
      immutable: false,
      encoded: {},
    })
  }
  hosting.sites.set(`a${app}.localhost`, {
    app_id: `shop000${app}`,
    kind: 'published',
    deployment_id: DEPLOYMENT,
    manifest: { ...manifestOf({}), files },
    earlier: [],
  })
}

const before = process.memoryUsage().rss
let most = before
setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
}, SAMPLE_MS)

process.on('message', () => process.send?.({ grown: most - before }))
process.on('disconnect', () => process.exit())
process.send?.({ port: hosting.port })

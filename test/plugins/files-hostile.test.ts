import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { processAll, taskOf } from '../../plugins/files/conformance/harness.ts'
import type { FileTask } from '../../plugins/files/contract.ts'
import type { FileProcessorOptions } from '../../plugins/files/extract.ts'
import { createFileProcessor } from '../../plugins/files/extract.ts'
import { DEFAULT_LIMITS } from '../../plugins/files/extract/command.ts'
import { HOSTILE, possibleEnds } from '../support/documents-hostile.ts'
import { documentsReferringTo } from '../support/documents-referring.ts'
import { startUntouched } from '../support/untouched.ts'

// Half a minute when the machine is idle: a child for each document.
t.setTimeout(5 * MINUTE)

const MIB = 1024 * 1024
/** By how much this process may grow, whatever a document is. */
const MAX_GROWTH = 32 * MIB

const processor = createFileProcessor()
t.teardown(() => processor.close())

/** Processes it and tells the code that it ends with, and by how much this process grew meanwhile. */
async function observe(task: FileTask, options?: FileProcessorOptions) {
  const before = process.memoryUsage.rss()
  let peak = before
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 5)
  const one = options === undefined ? processor : createFileProcessor(options)
  const started = performance.now()
  try {
    const { chunks } = await one.process(task, {
      signal: new AbortController().signal,
      stage: () => undefined,
      take: () => undefined,
    })
    return { ends: 'read', chunks, grown: () => peak - before, took: performance.now() - started }
  } catch (error) {
    const ends = String((error as { readonly code?: unknown }).code ?? error)
    return { ends, chunks: 0, grown: () => peak - before, took: performance.now() - started }
  } finally {
    clearInterval(look)
    if (one !== processor) await one.close()
  }
}

await t.test('a hostile document ends with a code, and this process hardly grows', async (t) => {
  for (const document of HOSTILE) {
    const { title, name, make } = document
    const seen = await observe(taskOf(name, make(), 65_536))
    t.ok(possibleEnds(document).includes(seen.ends), `${title}: ${seen.ends}`)
    t.ok(seen.grown() <= MAX_GROWTH, `${title}: grew by ${seen.grown()} bytes`)
    t.ok(seen.took < 2 * DEFAULT_LIMITS.wall, `${title}: took ${seen.took} ms`)
  }
})

await t.test('the largest text that is taken makes this process hardly grow', async (t) => {
  const piece = Buffer.alloc(MIB, 'It is a long text, and nobody reads it to the end. ')
  const task: FileTask = {
    file_id: 'file_1',
    name: 'long.txt',
    size: 16 * MIB,
    async *open() {
      for (let count = 0; count < 16; count++) yield piece
    },
  }
  const seen = await observe(task)
  t.equal(seen.ends, 'read')
  t.ok(seen.chunks > 8000, `${seen.chunks} chunks`)
  t.ok(seen.grown() <= MAX_GROWTH, `grew by ${seen.grown()} bytes`)
})

await t.test('nothing that a document refers to is fetched', async (t) => {
  const elsewhere = await startUntouched(t)
  for (const { title, name, make, ends } of documentsReferringTo(elsewhere.url)) {
    t.equal((await observe(taskOf(name, make()))).ends, ends, title)
  }
  t.equal(elsewhere.connections, 0)
})

await t.test('a child that misbehaves', async (t) => {
  const folder = t.testdir()
  const programOf = async (source: string): Promise<URL> => {
    const path = join(folder, `child-${(await readdir(folder)).length}.mjs`)
    await writeFile(path, `import { writeSync } from 'node:fs'\n${source}`)
    return pathToFileURL(path)
  }
  const chunk = (text: string, ordinal: number): string =>
    JSON.stringify({ chunk: { text, ordinal, heading: null, page: null, start: 0, end: 1 } })
  const line = (text: string): string => `writeSync(3, ${JSON.stringify(`${text}\n`)})\n`
  const limits = { wall: 60_000, heap: 64, resident: 200 }
  const short = { ...limits, wall: 300 }

  const children: Readonly<
    Record<string, readonly [source: string, ends: string, limits?: Partial<typeof limits>]>
  > = {
    'hangs busily': ['for (;;);', 'timed_out', short],
    'hangs idly': ['setInterval(() => {}, 1000)', 'timed_out', short],
    'fills the heap': [
      'const all = []\nfor (;;) all.push(Array.from({ length: 1000 }, Math.random))',
      'out_of_memory',
      { resident: 4000 },
    ],
    'fills the memory beside the heap': [
      'const all = []\nsetInterval(() => all.push(Buffer.alloc(10_000_000, 1)), 5)',
      'out_of_memory',
    ],
    crashes: ['process.abort()', 'out_of_memory'],
    'ends without a word': ['process.exit(0)', 'processor_failed'],
    throws: ['throw new Error("oh")', 'processor_failed'],
    'writes without end': ['for (;;) writeSync(3, Buffer.alloc(65_536, 97))', 'processor_failed'],
    'sends no JSON': [line('{'), 'processor_failed'],
    'sends chunks out of order': [line(chunk('a', 1)), 'processor_failed'],
    'sends a huge chunk': [line(chunk('a'.repeat(5000), 0)), 'processor_failed'],
    'sends too many chunks': [
      `for (let n = 0; ; n++) writeSync(3, ${JSON.stringify(`${chunk('a', 0)}\n`)}.replace('"ordinal":0', '"ordinal":' + n))`,
      'processor_failed',
    ],
    'sends an unknown code': [line('{"failed":"nonsense","internal":""}'), 'processor_failed'],
    'says it is done and does not end': [
      `${line('{"characters":1}')}setInterval(() => {}, 1000)`,
      'timed_out',
      short,
    ],
  }
  for (const [title, [source, ends, own]] of Object.entries(children)) {
    await t.test(title, async (t) => {
      const seen = await observe(taskOf('a.txt', 'text'), {
        program: await programOf(source),
        limits: { ...limits, ...own },
      })
      t.equal(seen.ends, ends)
      t.ok(seen.grown() <= MAX_GROWTH, `grew by ${seen.grown()} bytes`)
    })
  }

  await t.test('has no environment, no files, no processes, no code from strings', async (t) => {
    const secret = join(t.testdir({ secret: 'hidden' }), 'secret')
    const source = `
      const denied = async (work) => { try { await work() } catch { return true } return false }
      const { readFileSync, writeFileSync } = await import('node:fs')
      const { spawnSync } = await import('node:child_process')
      const facts = {
        env: Object.keys(process.env).filter((name) => !['PWD', 'SHLVL', '_'].includes(name)),
        read: await denied(() => readFileSync(${JSON.stringify(secret)})),
        write: await denied(() => writeFileSync(${JSON.stringify(`${secret}.new`)}, 'x')),
        spawn: await denied(() => { if (spawnSync('/bin/true').error) throw new Error() }),
        code: await denied(() => new Function('return 1')()),
      }
      writeSync(3, JSON.stringify({ failed: 'damaged', internal: JSON.stringify(facts) }) + '\\n')`
    const closed = createFileProcessor({ program: await programOf(source) })
    const failed = processAll({ processor: closed }, taskOf('a.txt', 'text'))
    const facts = await failed.then(
      () => '',
      (error: unknown) => (error as { readonly internal?: string }).internal ?? '',
    )
    const denied = { read: true, write: true, spawn: true, code: true }
    t.same(JSON.parse(facts), { env: [], ...denied })
  })
})

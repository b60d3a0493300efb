import { readFile } from 'node:fs/promises'
import t from 'tap'
import { MAX_FILE_BYTES } from '../../daemon/families/files/service.ts'
import { MINUTE } from '../../lib/time.ts'
import { HEAD_BYTES } from '../../plugins/files/contract.ts'
import { createFileProcessor } from '../../plugins/files/extract.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { docxParts, paragraph, pdfOf, sheetRow, xlsxParts, zipOf } from '../support/documents.ts'
import type { HostileDocument } from '../support/documents-hostile.ts'
import { HOSTILE, possibleEnds } from '../support/documents-hostile.ts'
import { documentsReferringTo } from '../support/documents-referring.ts'
import { isLate } from '../support/late-document.ts'
import { sampleReads } from '../support/sampled-reads.ts'
import { sized } from '../support/soak.ts'
import { startUntouched } from '../support/untouched.ts'

// Half a minute when the machine is idle: a child for each document.
t.setTimeout(10 * MINUTE)

/** One of so many is uploaded, and all that are harmless; test/plugins reads each, without a daemon. */
const STRIDE = sized(4, 2, 1)
const MIB = 1024 * 1024
/** By how many MiB the daemon may grow, whatever a document is. */
const MAX_GROWTH = 32
/** The default lets up to 48 MiB of garbage wait, which would count as growth. */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=2'
/** Milliseconds from one read to the next, while documents are taken and processed. */
const EVERY = 20
const TOKEN = 'operator-token-of-hostile-documents'

type Row = Readonly<Record<string, unknown>>

/** A document whose bytes are there already: making them takes longer than reading them. */
interface MadeDocument extends Pick<HostileDocument, 'title' | 'name' | 'ends'> {
  readonly bytes: Buffer
}

const madeOf = (documents: readonly HostileDocument[]): readonly MadeDocument[] =>
  documents.map((document) => ({ ...document, bytes: document.make() }))

/** Documents as everybody has them, the largest as large as the largest hostile one. */
function ordinary(round: number): readonly MadeDocument[] {
  const line = `Round ${round}: a line of an ordinary document and nothing else.\n`
  const text = line.repeat((15 * MIB) / line.length)
  const rows = Array.from({ length: 2000 }, (_, index) => sheetRow(index + 1, [line.trim(), index]))
  const documents: Readonly<Record<string, Buffer>> = {
    'long.txt': Buffer.from(text),
    'long.csv': Buffer.from(`text,number\n${line.trim()},1\n`.repeat(100_000)),
    'long.html': Buffer.from(`<p>${line}</p>`.repeat(20_000)),
    'long.json': Buffer.from(JSON.stringify(Array.from({ length: 20_000 }, () => line))),
    'pages.pdf': pdfOf(Array.from({ length: 200 }, () => line)),
    'letter.docx': zipOf(docxParts(paragraph(line).repeat(10_000))),
    'table.xlsx': zipOf(xlsxParts({ One: rows.join('') })),
  }
  return Object.entries(documents).map(([name, bytes]) => {
    return { title: `${name} of round ${round}`, name, bytes, ends: 'read' }
  })
}

/** What the daemon takes, and still is no document. */
const LARGEST: HostileDocument = {
  title: 'as many bytes of text as a file may have',
  name: 'b.txt',
  make: () => Buffer.alloc(MAX_FILE_BYTES, 'text '),
  ends: 'too_large_inside',
}

const processor = createFileProcessor()
t.teardown(() => processor.close())

/** What is refused while it comes in never becomes a file. */
function endsOf(document: MadeDocument): readonly string[] {
  const { name, ends, bytes } = document
  if (bytes.length > MAX_FILE_BYTES) return ['refused file_too_large']
  if (ends === 'read') return ['processed']
  const isTaken = processor.sniff(name, bytes.subarray(0, HEAD_BYTES)) !== undefined
  return possibleEnds(document).map((end) => `${isTaken ? 'failed' : 'refused'} ${end}`)
}

/** The kernel's account of the daemon alone, without its children; 0 on systems that tell none. */
async function residentMib({ child }: DaemonProcess): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { now: read('VmRSS'), most: read('VmHWM') }
}

async function openOffice(daemon: DaemonProcess) {
  let headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }
  const ask = async (method: string, path: string, body?: unknown): Promise<Row> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { ...headers, ...type } }
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
    return (await (await fetch(daemon.url + path, sent)).json()) as Row
  }
  const account = await ask('POST', '/v1/accounts', { name: 'Hostile' })
  headers = { ...headers, 'keyhook-account': String(account['id']) }
  const app = `/v1/apps/${String((await ask('POST', '/v1/apps', { template_id: 'blank' }))['id'])}`

  /** The id of the file that it became, or why it became none. */
  async function upload({ name, bytes }: MadeDocument): Promise<string> {
    const body = new FormData()
    body.append('file', new Blob([new Uint8Array(bytes)]), name)
    const url = `${daemon.url}${app}/files`
    const answer = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
      data?: readonly Row[]
      error?: { code: string }
    }
    return answer.error === undefined ? String(answer.data?.[0]?.['id']) : answer.error.code
  }

  async function waitForEnd(id: string, expected: readonly string[]): Promise<string> {
    let file: Row = {}
    let isRetried = false
    const hasEnded = async (): Promise<boolean> => {
      file = await ask('GET', `${app}/files/${id}`)
      if (isLate(file) && !isRetried && !expected.includes('failed timed_out')) {
        isRetried = true
        await ask('POST', `${app}/files/${id}/retry`, {})
        return false
      }
      return file['status'] === 'processed' || file['status'] === 'failed'
    }
    await until('the file has ended', hasEnded, 5 * MINUTE)
    const { code } = (file['error'] ?? {}) as { readonly code?: string }
    return code === undefined ? String(file['status']) : `${String(file['status'])} ${code}`
  }

  return {
    app,
    ask,
    headers,
    /** Uploads them one after the other, then waits until all have ended; answers how each did. */
    async process(documents: readonly MadeDocument[]): Promise<readonly string[]> {
      const taken: (readonly [id: string, document: MadeDocument])[] = []
      for (const document of documents) taken.push([await upload(document), document])
      return Promise.all(
        taken.map(async ([id, document]) =>
          id.includes('-') ? waitForEnd(id, endsOf(document)) : `refused ${id}`,
        ),
      )
    },
  }
}

await t.test('hostile documents end with a code, and the daemon goes on as it was', async (t) => {
  const elsewhere = await startUntouched(t)
  const hostile = [...HOSTILE, ...documentsReferringTo(elsewhere.url)]
  const chosen = hostile.filter(({ ends }, index) => ends === 'read' || index % STRIDE === 0)
  const documents = madeOf([...chosen, LARGEST])
  const daemon = await startDaemonProcess({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_OPERATOR_TOKEN: TOKEN,
    NODE_OPTIONS: SMALL_YOUNG_GENERATION,
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
  })
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const office = await openOffice(daemon)
  const urls = [`${daemon.url}${office.app}/files?limit=5`, daemon.url + office.app] as const

  for (const round of [1, 2]) {
    const warming = ordinary(round)
    const reads = sampleReads(urls, office.headers, EVERY)
    t.same(await office.process(warming), warming.flatMap(endsOf), 'ordinary documents are read')
    await reads.stop()
  }
  const warm = await residentMib(daemon)

  const reads = sampleReads(urls, office.headers, EVERY)
  const ends = await office.process(documents)
  const sampled = await reads.stop()
  for (const [index, document] of documents.entries()) {
    const end = ends[index] ?? 'none'
    t.ok(endsOf(document).includes(end), `${document.title}: ${end}`)
  }

  const after = await residentMib(daemon)
  const growth = after.most - warm.most
  t.comment(`${warm.most.toFixed(0)} MiB at most when warm, ${growth.toFixed(1)} MiB more after`)
  t.comment(`resident ${warm.now.toFixed(0)} MiB when warm, ${after.now.toFixed(0)} MiB after`)
  t.ok(growth <= MAX_GROWTH, `grew by ${growth} MiB`)

  const { count, unanswered, p50, p99, most } = sampled
  t.comment(`${count} reads meanwhile: p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms`)
  t.ok(count > documents.length, 'there were more reads than documents')
  t.same(unanswered, [], 'every read was answered')
  t.equal(elsewhere.connections, 0, 'nothing that a document refers to was fetched')

  const search = await office.ask('POST', `${office.app}/files/search`, { query: 'deep inside' })
  t.match((search['data'] as Row[])[0], { text: /deep inside/ }, 'what is harmless is found')
  t.equal(await daemon.end('SIGTERM'), 0)
})

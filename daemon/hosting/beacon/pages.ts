import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { untilAborted } from '../../../lib/internal/until-aborted.ts'
import type { AppBytes, Kept } from '../../../plugins/apps/contract.ts'
import type { Encoding, ServedFile } from '../../../plugins/deploy/contract.ts'
import type { Form } from '../encoding.ts'
import type { PageScan } from './scan.ts'
import { scanPage } from './scan.ts'
import { createSharedWork } from './shared-work.ts'
import type { Splice } from './splice.ts'
import { openSpliced } from './splice.ts'
import { LruCache } from '../../../lib/internal/lru-cache.ts'

/** A representation of a file as it is sent. */
export interface SentForm extends Form {
  /** All of its bytes, when they are not stored. */
  readonly made?: Buffer
  /** The page into which the beacon is inserted while it is sent. */
  readonly splice?: Splice
  /** Present for a fragment: it is sent with the beacon as a page, and without it to a script. */
  readonly byDestination?: true
}

/** Inserts the beacon into pages while they are served; it is never stored. */
export interface BeaconPages {
  /**
   * Returns the representation to send for a page: built once, then from memory. While too many pages wait
   * to be read, it is the stored one, with its own digest.
   *
   * @param destination purpose of the request (`Sec-Fetch-Dest`), if given
   * @param leaving aborts when the visitor has left; read only when there is something to wait for, which
   *   then rejects
   */
  find(
    appId: string,
    file: ServedFile,
    form: Form,
    destination?: string,
    leaving?: Leaving,
  ): SentForm | Promise<SentForm>
}

export type Leaving = () => AbortSignal

export interface BeaconPageLimits {
  /** Maximum bytes of a page that is held in memory as sent; larger ones are read each time. */
  readonly small: number
  /** Maximum bytes of pages and their compressed forms in memory. */
  readonly total: number
  /** Maximum bytes of pages that wait for compression; beyond it a page is sent uncompressed. */
  readonly waiting: number
  /** Maximum bytes of pages that wait for their first read; beyond it a page is sent as stored. */
  readonly reading: number
}

const LIMITS: BeaconPageLimits = {
  small: 64 * 1024,
  total: 64 * 1024 * 1024,
  waiting: 32 * 1024 * 1024,
  reading: 128 * 1024 * 1024,
}

/** Estimated overhead of a page beside its bytes. */
const OVERHEAD = 1024

/** One page at a time, off the event loop: a visitor waits, but others need the threads too. */
const COMPRESSED_AT_ONCE = 1

/** Concurrent reads of pages; each holds at most the scanned bytes. */
const READ_AT_ONCE = 4

const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    brotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => deflate(bytes, { level: 6 }),
}

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** One request for a page. */
interface PageRequest {
  readonly form: Form
  /** Whether a fragment is sent as a page. */
  readonly isForPage: boolean
  readonly leaving: Leaving | undefined
}

/** A scanned page. */
interface Page {
  /** With the beacon; undefined for a page without one. */
  readonly identity: SentForm | undefined
  readonly encoded: Partial<Record<Encoding, SentForm>>
}

/**
 * Each form has its own digest, so that tags, ranges and lengths are those of the sent bytes.
 *
 * @param isSecure whether apps are served over https
 */
export function createBeaconPages(
  bytes: Pick<AppBytes, 'open'>,
  isSecure: boolean,
  limits: BeaconPageLimits = LIMITS,
): BeaconPages {
  const pages = new LruCache<Page>({
    maxSize: limits.total,
    sizeOf: ({ identity, encoded }) =>
      [identity, ...Object.values(encoded)].reduce(
        (bytes, form) => bytes + (form?.made?.length ?? 0),
        OVERHEAD,
      ),
  })
  const reading = createSharedWork({ atOnce: READ_AT_ONCE, cost: limits.reading })
  const compressing = createSharedWork({ atOnce: COMPRESSED_AT_ONCE, cost: limits.waiting })

  async function load(
    appId: string,
    file: ServedFile,
    key: string,
    signal: AbortSignal,
  ): Promise<Page> {
    const chunks = await bytes.open(appId, file.sha256)
    if (chunks === undefined) throw new Error(`${file.sha256} is not there`)
    const scan = scanPage({ isSecure })
    const identity = await readPage(untilAborted(chunks, signal), file, scan, limits.small)
    const page: Page = { identity, encoded: {} }
    pages.set(key, page)
    return page
  }

  async function compress(
    appId: string,
    key: string,
    page: Page,
    identity: SentForm,
    encoding: Encoding,
    signal: AbortSignal,
  ): Promise<SentForm> {
    const made = await COMPRESS[encoding](await readSent(bytes, appId, identity, signal))
    const { byDestination } = identity
    const form = {
      encoding,
      sha256: digestOf(made),
      size: made.length,
      made,
      ...(byDestination === true ? { byDestination } : {}),
    }
    page.encoded[encoding] = form
    // Set again, because its size has grown.
    if (pages.peek(key) === page) pages.set(key, page)
    return form
  }

  function choose(
    appId: string,
    key: string,
    page: Page,
    { form, isForPage, leaving }: PageRequest,
  ): SentForm | Promise<SentForm> {
    const { identity, encoded } = page
    const { encoding } = form
    if (identity === undefined) return form
    if (identity.byDestination === true && !isForPage) return { ...form, byDestination: true }
    if (encoding === 'identity') return identity
    const known = encoded[encoding]
    if (known !== undefined) return known
    const made = compressing.join(
      `${appId} ${key} ${encoding}`,
      identity.size,
      (signal) => compress(appId, key, page, identity, encoding, signal),
      leaving?.(),
    )
    return made ?? identity
  }

  return {
    find(appId, file, form, destination, leaving) {
      const key = file.sha256
      const request = { form, isForPage: isForPage(file, destination), leaving }
      const page = pages.get(key)
      if (page !== undefined) return choose(appId, key, page, request)
      const loaded = reading.join(
        `${appId} ${key}`,
        // A page of any size is read when nothing else is.
        Math.min(file.size, limits.reading),
        (signal) => load(appId, file, key, signal),
        leaving?.(),
      )
      if (loaded === undefined) return form
      return loaded.then((read) => choose(appId, key, read, request))
    },
  }
}

/** Destinations of a request that show the response as a page (Fetch, 2.2.5). */
const PAGES: ReadonlySet<string> = new Set(['document', 'embed', 'frame', 'iframe', 'object'])

/** Pages of folders and of missing files. */
const NAMED_PAGE = /(?:^|\/)(?:index|404)\.html$/

/** Whether a fragment is requested as a page: by its name when the browser does not say. */
function isForPage({ path }: ServedFile, destination: string | undefined): boolean {
  return destination === undefined ? NAMED_PAGE.test(path) : PAGES.has(destination)
}

/** Whether a file is sent as HTML. */
export function isHtml({ type }: Pick<ServedFile, 'type'>): boolean {
  return type === 'text/html; charset=utf-8' || /^text\/html\s*(?:;|$)/i.test(type)
}

/** Reads a page once and hashes it as it is sent; undefined for a page without a beacon. */
async function readPage(
  chunks: AsyncIterable<Uint8Array>,
  { sha256, size }: Kept,
  scan: PageScan,
  small: number,
): Promise<SentForm | undefined> {
  const hash = createHash('sha256')
  const isSmall = size <= small
  let held: Uint8Array[] = []
  let read = 0
  let isPlaced = false
  let isFragment = false
  const put = (): Splice | undefined => {
    const position = scan.end()
    isPlaced = true
    if (position === undefined) return undefined
    const { at, tag } = position
    isFragment = position.isFragment
    const head = Buffer.concat(held)
    held = [head.subarray(0, at), tag, head.subarray(at)]
    for (const part of held) hash.update(part)
    return { page: { sha256, size }, at, tag }
  }
  let splice: Splice | undefined
  for await (const chunk of chunks) {
    read += chunk.length
    if (!isPlaced) {
      held.push(chunk)
      scan.write(chunk)
      if (!scan.isDone) continue
      splice = put()
      // It is sent like any other file, which is verified then.
      if (splice === undefined) return undefined
      continue
    }
    hash.update(chunk)
    if (isSmall) held.push(chunk)
    else held = []
  }
  if (!isPlaced) splice = put()
  if (read !== size) throw new Error(`${sha256} is not whole`)
  if (splice === undefined) return undefined
  const made = isSmall ? { made: Buffer.concat(held) } : { splice }
  const digest = hash.digest('hex')
  const varies = isFragment ? { byDestination: true as const } : {}
  return {
    encoding: 'identity',
    sha256: digest,
    size: size + splice.tag.length,
    ...made,
    ...varies,
  }
}

/** All bytes of a page as sent. */
async function readSent(
  bytes: Pick<AppBytes, 'open'>,
  appId: string,
  { made, splice, size }: SentForm,
  signal: AbortSignal,
): Promise<Buffer> {
  if (made !== undefined) return made
  const chunks = splice && (await openSpliced(bytes, appId, splice, { start: 0, end: size }))
  if (chunks === undefined) throw new Error('a page is not there any more')
  const read: Uint8Array[] = []
  for await (const chunk of untilAborted(chunks, signal)) read.push(chunk)
  return Buffer.concat(read)
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { createLanes } from '../../../lib/internal/lanes.ts'
import type { AppBytes, Kept } from '../../../plugins/apps/contract.ts'
import type { Encoding, ServedFile } from '../../../plugins/deploy/contract.ts'
import type { Form } from '../encoding.ts'
import { scanPage } from './scan.ts'
import type { Splice } from './splice.ts'
import { openSpliced } from './splice.ts'

/** A form of a file as it is sent. */
export interface SentForm extends Form {
  /** All of it, for what is nowhere kept. */
  readonly made?: Buffer
  /** The page that the beacon is put into while it is sent. */
  readonly splice?: Splice
}

/** Puts the beacon into pages while they are served; what is stored never holds it. */
export interface BeaconPages {
  /** The form that is sent in place of a form of a page: made once, then from memory. */
  find(appId: string, file: ServedFile, form: Form): SentForm | Promise<SentForm>
}

export interface BeaconPageLimits {
  /** Bytes of the largest page that is held in memory as it is sent; larger ones are read each time. */
  readonly small: number
  /** Bytes of memory for pages and their compressed forms. */
  readonly total: number
  /** Bytes of pages that wait to be compressed; beyond that a page is sent uncompressed. */
  readonly waiting: number
}

const LIMITS: BeaconPageLimits = {
  small: 64 * 1024,
  total: 64 * 1024 * 1024,
  waiting: 32 * 1024 * 1024,
}

/** What is remembered of a page beside its bytes, about. */
const OVERHEAD = 1024

/** Off the event loop, one page at a time: somebody waits, but others need the threads too. */
const AT_ONCE = 1

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

/** A page that was looked through. */
interface Page {
  /** With the beacon; undefined for one that gets none. */
  readonly identity: SentForm | undefined
  readonly encoded: Partial<Record<Encoding, SentForm>>
  /** Memory that it takes. */
  bytes: number
}

/**
 * Each form has a digest of its own, so that tags, ranges and lengths are those of the bytes that are sent.
 *
 * @param isSecure whether apps are served by https
 */
export function createBeaconPages(
  bytes: Pick<AppBytes, 'open'>,
  isSecure: boolean,
  limits: BeaconPageLimits = LIMITS,
): BeaconPages {
  // In the order of use: the oldest is the first.
  const pages = new Map<string, Page>()
  const loading = new Map<string, Promise<unknown>>()
  const lanes = createLanes(AT_ONCE)
  let total = 0
  let waiting = 0
  let newest = ''

  function peek(key: string): Page | undefined {
    const page = pages.get(key)
    if (page !== undefined && key !== newest) {
      pages.delete(key)
      pages.set(key, page)
      newest = key
    }
    return page
  }

  function keep(key: string, page: Page): void {
    pages.set(key, page)
    newest = key
    total += page.bytes
    makeRoom()
  }

  function makeRoom(): void {
    for (const [oldest, { bytes: held }] of pages) {
      if (total <= limits.total) return
      pages.delete(oldest)
      total -= held
    }
  }

  /** Does some work once for all who wait for it. */
  function once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const begun = loading.get(key) as Promise<T> | undefined
    const own = begun ?? work().finally(() => loading.delete(key))
    loading.set(key, own)
    return own
  }

  async function load(appId: string, file: ServedFile, key: string): Promise<Page> {
    const isNamedPage = NAMED_PAGE.test(file.path)
    const identity = await readPage(bytes, appId, file, { isNamedPage, isSecure }, limits.small)
    const page: Page = { identity, encoded: {}, bytes: OVERHEAD + (identity?.made?.length ?? 0) }
    keep(key, page)
    return page
  }

  async function compress(
    appId: string,
    key: string,
    page: Page,
    identity: SentForm,
    encoding: Encoding,
  ): Promise<SentForm> {
    waiting += identity.size
    try {
      return await lanes(async () => {
        const made = await COMPRESS[encoding](await readSent(bytes, appId, identity))
        const form = { encoding, sha256: digestOf(made), size: made.length, made }
        page.encoded[encoding] = form
        if (pages.get(key) === page) {
          page.bytes += made.length
          total += made.length
          makeRoom()
        }
        return form
      })
    } finally {
      waiting -= identity.size
    }
  }

  function choose(
    appId: string,
    key: string,
    page: Page,
    form: Form,
  ): SentForm | Promise<SentForm> {
    const { identity, encoded } = page
    const { encoding } = form
    if (identity === undefined) return form
    if (encoding === 'identity') return identity
    const known = encoded[encoding]
    if (known !== undefined) return known
    const name = `${appId} ${key} ${encoding}`
    if (waiting + identity.size > limits.waiting && !loading.has(name)) return identity
    return once(name, () => compress(appId, key, page, identity, encoding))
  }

  return {
    find(appId, file, form) {
      // The same bytes may be a page under one name and a fragment under another.
      const key = NAMED_PAGE.test(file.path) ? file.sha256 : `${file.sha256} by its content`
      const page = peek(key)
      if (page !== undefined) return choose(appId, key, page, form)
      return once(`${appId} ${key}`, () => load(appId, file, key)).then((loaded) =>
        choose(appId, key, loaded, form),
      )
    },
  }
}

/** What is served for a folder, and in place of what is missing. */
const NAMED_PAGE = /(?:^|\/)(?:index|404)\.html$/

/** Whether a file is sent as HTML. */
export function isHtml({ type }: Pick<ServedFile, 'type'>): boolean {
  return type === 'text/html; charset=utf-8' || /^text\/html\s*(?:;|$)/i.test(type)
}

/** Reads a page once, whole, and hashes it as it is sent; undefined for one that gets no beacon. */
async function readPage(
  bytes: Pick<AppBytes, 'open'>,
  appId: string,
  { sha256, size }: Kept,
  options: Parameters<typeof scanPage>[0],
  small: number,
): Promise<SentForm | undefined> {
  const chunks = await bytes.open(appId, sha256)
  if (chunks === undefined) throw new Error(`${sha256} is not there`)
  const scan = scanPage(options)
  const hash = createHash('sha256')
  const isSmall = size <= small
  let held: Uint8Array[] = []
  let read = 0
  let isPlaced = false
  const put = (): Splice | undefined => {
    const place = scan.end()
    isPlaced = true
    if (place === undefined) return undefined
    const head = Buffer.concat(held)
    held = [head.subarray(0, place.at), place.tag, head.subarray(place.at)]
    for (const part of held) hash.update(part)
    return { page: { sha256, size }, ...place }
  }
  let splice: Splice | undefined
  for await (const chunk of chunks) {
    read += chunk.length
    if (!isPlaced) {
      held.push(chunk)
      scan.write(chunk)
      if (!scan.isDone) continue
      splice = put()
      // It is sent like any other file, which is checked then.
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
  return { encoding: 'identity', sha256: digest, size: size + splice.tag.length, ...made }
}

/** All of a page as it is sent. */
async function readSent(
  bytes: Pick<AppBytes, 'open'>,
  appId: string,
  { made, splice, size }: SentForm,
): Promise<Buffer> {
  if (made !== undefined) return made
  const chunks = splice && (await openSpliced(bytes, appId, splice, { start: 0, end: size }))
  if (chunks === undefined) throw new Error('a page is not there any more')
  const read: Uint8Array[] = []
  for await (const chunk of chunks) read.push(chunk)
  return Buffer.concat(read)
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

import { Parser } from 'htmlparser2'
import { allowsBeacon } from './policy.ts'

/** The path of the script that reports the errors of a page. */
export const BEACON_PATH = '/_p/obs.js'

const TAG = `<script src="${BEACON_PATH}"></script>`

/**
 * Bytes at the beginning of a page that are scanned. The parser buffers incomplete constructs, such as a
 * comment that never ends: this bounds it.
 */
export const SCANNED_BYTES = 256 * 1024

/** Maximum nesting depth: the parser visits all open elements for each tag. */
const DEEPEST = 256

/** Byte position of the beacon in a page, and its markup. */
export interface BeaconPosition {
  readonly at: number
  readonly tag: Buffer
}

/** Scans a page from its beginning until the position of the beacon is known. */
export interface PageScan {
  /** Whether no more of the page is needed. */
  readonly isDone: boolean
  write(chunk: Uint8Array): void
  /** Undefined for a page without a beacon. Called once it is done, or at the end of the page. */
  end(): FoundPosition | undefined
}

export interface FoundPosition extends BeaconPosition {
  /** Whether it may be a fragment: it has nothing that only whole pages have. */
  readonly isFragment: boolean
}

export interface PageScanOptions {
  /** Whether apps are served over https. */
  readonly isSecure: boolean
}

/** Elements that do not end a head (HTML, 13.2.6.4.4). */
const OF_HEAD: ReadonlySet<string> = new Set([
  'base',
  'basefont',
  'bgsound',
  'link',
  'meta',
  'noframes',
  'noscript',
  'script',
  'style',
  'template',
  'title',
])

/** Elements whose content does not belong to the head itself. */
const OPAQUE: ReadonlySet<string> = new Set([
  'noframes',
  'noscript',
  'script',
  'style',
  'template',
  'title',
])

/** Elements that distinguish a page from a fragment that scripts insert into others. */
const OF_PAGE: ReadonlySet<string> = new Set(['body', 'frameset', 'head', 'html', 'title'])

/**
 * Finds the position of the beacon: directly after `<head>`, or where an omitted head begins, so that it
 * runs before the page's own scripts; after the last policy in a `<meta>` of the head, so that the policy
 * governs it.
 *
 * A page has no beacon when it loads one in its head, when its policy may forbid it, or when its `<base>`
 * would redirect it. When the head is longer or deeper than the scan, the position known by then counts;
 * without one, the page has no beacon.
 */
export function scanPage({ isSecure }: PageScanOptions): PageScan {
  let isDone = false
  let isFragment = true
  let isRefused = false
  let at: number | undefined
  /** Position of a `<base>` of another origin. */
  let baseAt = Infinity
  /** The open element of the head that hides its content, and their number. */
  let opaque = ''
  let depth = 0
  let encoding: Encoding | undefined
  /** Characters so far. */
  let length = 0
  /** Open elements, for the parser. */
  let open = 0
  /** Bytes that may still be scanned. */
  let left = SCANNED_BYTES

  const parser: Parser = new Parser({
    onprocessinginstruction(name) {
      if (name.toLowerCase() === '!doctype') isFragment = false
    },
    ontext(text) {
      const blank = text.search(/[^ \t\n\f\r]/)
      if (depth === 0 && blank >= 0) finish(parser.startIndex + blank)
    },
    onopentag(name, attributes) {
      open += 1
      if (isDone) return
      if (open > DEEPEST) {
        finish()
        return
      }
      if (depth > 0) {
        if (name === opaque) depth += 1
        return
      }
      if (OF_PAGE.has(name)) isFragment = false
      if (name === 'html') return
      if (name === 'head') {
        at ??= parser.endIndex + 1
        return
      }
      at ??= parser.startIndex
      if (!OF_HEAD.has(name)) finish()
      else readElement(name, attributes)
    },
    onclosetag(name) {
      open -= 1
      if (depth > 0 && name === opaque) depth -= 1
      else if (depth === 0 && name === 'head') finish()
    },
  })

  function finish(here = parser.startIndex): void {
    if (isDone) return
    isDone = true
    at ??= here
    parser.pause()
  }

  function readElement(name: string, attributes: Readonly<Record<string, string>>): void {
    const { href, src } = attributes
    const { 'http-equiv': meaning = '', content = '' } = attributes
    if (name === 'script' && src?.trim() === BEACON_PATH) isRefused = true
    if (name === 'base' && href !== undefined && isElsewhere(href)) {
      baseAt = Math.min(baseAt, parser.startIndex)
    }
    if (name === 'meta' && meaning.toLowerCase() === 'content-security-policy') {
      at = parser.endIndex + 1
      if (!allowsBeacon(content, isSecure)) isRefused = true
    }
    if (OPAQUE.has(name)) {
      opaque = name
      depth = 1
    }
    if (isRefused) finish()
  }

  /** Bytes received before the encoding was known. */
  let first: Uint8Array = new Uint8Array()

  function read(chunk: Uint8Array, from: Encoding): void {
    const text = from.decode(chunk)
    length += text.length
    parser.write(text)
  }

  function begin(): Encoding {
    encoding = encodingOf(first)
    read(first, encoding)
    return encoding
  }

  return {
    get isDone() {
      return isDone
    },
    write(chunk) {
      const scanned = chunk.subarray(0, left)
      left -= scanned.length
      if (encoding !== undefined) read(scanned, encoding)
      else {
        first = Buffer.concat([first, scanned])
        if (first.length >= LONGEST_BOM) begin()
      }
      if (scanned.length < chunk.length && !isDone) isDone = true
    },
    end() {
      const { bom, unit, encode } = encoding ?? begin()
      if (!isDone) parser.end()
      // The position is at the end of the page at the latest.
      finish(length)
      if (isRefused || at === undefined || baseAt < at) return undefined
      return { at: bom + unit * at, tag: encode(TAG), isFragment }
    },
  }
}

/** Whether an address names a host, so that relative addresses belong to another origin. */
function isElsewhere(href: string): boolean {
  return /^\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(href)
}

interface Encoding {
  /** Bytes of the byte order mark. */
  readonly bom: number
  /** Bytes for each character that the parser counts. */
  readonly unit: 1 | 2
  decode(chunk: Uint8Array): string
  encode(text: string): Buffer
}

/** Supersets of ASCII are read byte by byte, so that the parser counts bytes. */
const BYTES: Encoding = {
  bom: 0,
  unit: 1,
  decode: (chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1'),
  encode: (text) => Buffer.from(text),
}

/** Bytes of the longest byte order mark. */
const LONGEST_BOM = 3

/** The byte order mark takes precedence (Encoding Standard, 6). */
function encodingOf(first: Uint8Array): Encoding {
  const [a, b, c] = first
  if (a === 0xef && b === 0xbb && c === 0xbf) {
    const skip = skipping(LONGEST_BOM)
    return { ...BYTES, bom: LONGEST_BOM, decode: (chunk) => BYTES.decode(skip(chunk)) }
  }
  const isLittle = a === 0xff && b === 0xfe
  if (!isLittle && !(a === 0xfe && b === 0xff)) return BYTES
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be')
  return {
    bom: 2,
    unit: 2,
    decode: (chunk) => decoder.decode(chunk, { stream: true }),
    encode: (text) =>
      isLittle ? Buffer.from(text, 'utf16le') : Buffer.from(text, 'utf16le').swap16(),
  }
}

/** Skips the first bytes. */
function skipping(left: number): (chunk: Uint8Array) => Uint8Array {
  return (chunk) => {
    const skipped = Math.min(left, chunk.length)
    left -= skipped
    return chunk.subarray(skipped)
  }
}

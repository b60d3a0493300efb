import { mimes } from 'mrmime'

/** How files of one extension are served. */
export interface Media {
  /** With its charset, where it is text. */
  readonly type: string
  /** Whether it gets smaller. */
  readonly compressible: boolean
}

const TEXT =
  'atom css csv htm html ics js json jsonld geojson md mjs rss srt svg topojson tsv txt vtt ' +
  'webmanifest xhtml xml xsl yaml yml'

/** Compressed already. */
const PACKED =
  '7z aac apng avif docx epub flac gif gz jpeg jpg jxl m4a mov mp3 mp4 oga ogg ogv opus pdf ' +
  'png pptx weba webm webp woff woff2 xlsx zip'

const BINARY = 'bmp eot glb gltf ico otf ttc ttf wasm wav'

/** Types that mrmime lacks, or names otherwise. */
const OTHERS: Readonly<Record<string, string>> = {
  '7z': 'application/x-7z-compressed',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  eot: 'application/vnd.ms-fontobject',
  flac: 'audio/flac',
  ico: 'image/x-icon',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  srt: 'application/x-subrip',
  topojson: 'application/json',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  xsl: 'application/xslt+xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** Files of other extensions are bytes, and browsers may not sniff them. */
const BYTES: Media = { type: 'application/octet-stream', compressible: false }

/** Content types by extension, in lower case. */
const MEDIA: ReadonlyMap<string, Media> = new Map([
  ...entries(TEXT, (type) => ({ type: `${type}; charset=utf-8`, compressible: true })),
  ...entries(PACKED, (type) => ({ type, compressible: false })),
  ...entries(BINARY, (type) => ({ type, compressible: true })),
])

function entries(
  extensions: string,
  toMedia: (type: string) => Media,
): readonly (readonly [string, Media])[] {
  return extensions
    .split(' ')
    .map((extension) => [extension, toMedia(OTHERS[extension] ?? mimes[extension] ?? BYTES.type)])
}

export function mediaOf(path: string): Media {
  const [, extension = ''] = /\.([^./]+)$/.exec(path) ?? []
  return MEDIA.get(extension.toLowerCase()) ?? BYTES
}

/** Whether a file of the app is served: hidden files and files about the source are not. */
export function isServed(path: string): boolean {
  return !/(^|\/)\./.test(path) && !/\.(m?js|css)\.map$/i.test(path)
}

/** The part between separators, or the whole name, before the extension: `app-BfX3k9aQ.js`. */
const PART = /(?:^|[-_.])([0-9A-Za-z]{8,})\.[0-9A-Za-z]+$/

const PAGE = /\.x?html?$/i
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.[^/]+$/i

/**
 * Whether a name has a fingerprint of its content, as bundlers write it. It looks random: a date, a
 * version or a word with a number is none, since such a file keeps its name when it changes; nor is the id
 * of what the file is about. A page is asked for by its name, whatever that looks like.
 */
export function hasFingerprint(path: string): boolean {
  if (PAGE.test(path) || UUID.test(path)) return false
  const [, part = ''] = PART.exec(path.slice(path.lastIndexOf('/') + 1)) ?? []
  return FINGERPRINTS.some(({ form, least }) => form.test(part) && turns(part) >= least)
}

/** Fingerprints of bundlers, and how random they must look. */
const FINGERPRINTS: readonly { readonly form: RegExp; readonly least: number }[] = [
  { form: /^(?=.*\d)(?=.*[a-f])[0-9a-f]+$/, least: 2 },
  { form: /^(?=.*\d)(?=.*[A-Z])[0-9A-Z]+$/, least: 3 },
  { form: /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])/, least: 4 },
]

/** How often letters and digits, or the case of letters, take turns; a word begun by a capital is one. */
function turns(part: string): number {
  return (part.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []).length - 1
}

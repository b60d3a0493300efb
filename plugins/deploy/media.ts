const TEXT: Readonly<Record<string, string>> = {
  atom: 'application/atom+xml',
  css: 'text/css',
  csv: 'text/csv',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  js: 'text/javascript',
  json: 'application/json',
  jsonld: 'application/ld+json',
  geojson: 'application/geo+json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  rss: 'application/rss+xml',
  srt: 'application/x-subrip',
  svg: 'image/svg+xml',
  topojson: 'application/json',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  vtt: 'text/vtt',
  webmanifest: 'application/manifest+json',
  xhtml: 'application/xhtml+xml',
  xml: 'application/xml',
  xsl: 'application/xslt+xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** Of no use to be compressed again. */
const PACKED: Readonly<Record<string, string>> = {
  '7z': 'application/x-7z-compressed',
  aac: 'audio/aac',
  apng: 'image/apng',
  avif: 'image/avif',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  epub: 'application/epub+zip',
  flac: 'audio/flac',
  gif: 'image/gif',
  gz: 'application/gzip',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  jxl: 'image/jxl',
  m4a: 'audio/mp4',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  ogv: 'video/ogg',
  opus: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  weba: 'audio/webm',
  webm: 'video/webm',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
}

const LOOSE: Readonly<Record<string, string>> = {
  bmp: 'image/bmp',
  eot: 'application/vnd.ms-fontobject',
  glb: 'model/gltf-binary',
  gltf: 'model/gltf+json',
  ico: 'image/x-icon',
  otf: 'font/otf',
  ttc: 'font/collection',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  wav: 'audio/wav',
}

/** How files of one extension are served. */
export interface Media {
  /** With its charset, where it is text. */
  readonly type: string
  /** Whether it gets smaller. */
  readonly compressible: boolean
}

/** Content types by extension, in lower case; others are bytes, and browsers may not sniff them. */
const MEDIA: ReadonlyMap<string, Media> = new Map([
  ...entries(TEXT, (type) => ({ type: `${type}; charset=utf-8`, compressible: true })),
  ...entries(PACKED, (type) => ({ type, compressible: false })),
  ...entries(LOOSE, (type) => ({ type, compressible: true })),
])

function entries(
  types: Readonly<Record<string, string>>,
  toMedia: (type: string) => Media,
): readonly (readonly [string, Media])[] {
  return Object.entries(types).map(([extension, type]) => [extension, toMedia(type)])
}

const BYTES: Media = { type: 'application/octet-stream', compressible: false }

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

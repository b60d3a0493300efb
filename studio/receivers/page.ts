/** A part of a page of docs/receivers. */
export type Part =
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'file' | 'command'; readonly name: string; readonly text: string }

/** A receiver as its page shows it: what it needs, its files, its commands. */
export interface Receiver {
  readonly name: string
  readonly parts: readonly Part[]
  /** Whether it verifies with a library of Standard Webhooks, whose headers a webhook sends on request. */
  readonly needsStandardHeaders: boolean
}

/** A fence with the name of its file or command, a heading, or a paragraph. */
const PART = /^```(\w+) (\S.*)\n([\s\S]*?)\n```$|^## (.+)$|^(?!#|```)(.+(?:\n.+)*)/gm

/** The receivers of a page; its first paragraph is about the page, and in its place there is this one. */
export function receiversOf(page: string): readonly Receiver[] {
  const sections: { name: string | undefined; parts: Part[] }[] = [{ name: undefined, parts: [] }]
  for (const [, language = '', name = '', text = '', heading, prose] of page.matchAll(PART)) {
    if (heading !== undefined) sections.push({ name: heading, parts: [] })
    else
      sections.at(-1)?.parts.push(prose === undefined ? code(language, name, text) : about(prose))
  }
  sections[0]?.parts.shift()
  return sections
    .filter(({ parts }) => parts.some(({ kind }) => kind === 'file'))
    .map(({ name, parts }) => ({
      name: name ?? runOf(parts),
      parts,
      needsStandardHeaders: parts.some(({ text }) => text.includes('"standard_headers": true')),
    }))
}

function about(prose: string): Part {
  return { kind: 'prose', text: prose.replaceAll('\n', ' ') }
}

/** `sh run gin` runs the receiver of that name; other fences are files. */
function code(language: string, name: string, text: string): Part {
  return { kind: language === 'sh' ? 'command' : 'file', name, text }
}

function runOf(parts: readonly Part[]): string {
  const names = parts.flatMap((part) => (part.kind === 'command' ? [part.name] : []))
  return names.find((name) => name.startsWith('run '))?.slice('run '.length) ?? ''
}

/** Names the header of the brand, where a page names that of the default one. */
export function forBrand(page: string, brand: string): string {
  if (brand === 'Service') return page
  const header = `${brand}-Signature`
  return page
    .replaceAll('Service-Signature', header)
    .replaceAll('service-signature', header.toLowerCase())
    .replaceAll('HTTP_SERVICE_SIGNATURE', `HTTP_${brand.toUpperCase()}_SIGNATURE`)
    .replaceAll(/(verifyWebhook\(.+)\)$/gm, `$1, { signatureHeader: '${header}' })`)
}

/** Of one request. */
export const MAX_REPORTS = 20
/** In characters. */
export const MAX_MESSAGE = 1000
export const MAX_STACK = 4000
const MAX_URL = 1024

/** In an address within a text: what follows its path, but for the line and column of a stack. */
const QUERIES = /(\bhttps?:\/\/[^\s?#()<>"']*)[?#][^\s()<>"']*?((?::\d+){0,2}(?=[\s()<>"']|$))/g

/** Text of others as it is kept: cut, well-formed, without what could not be shown, and without queries. */
export function tidyText(text: string, most: number): string {
  const cut = Buffer.from(text.slice(0, most)).toString()
  return cut
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(QUERIES, (_, place: string, position: string) => place + position)
}

/** An address of a page without its query; undefined for what is none. */
export function tidyUrl(text: string): string | undefined {
  const url = text.length > 16_384 ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return `${url.origin}${url.pathname}`.slice(0, MAX_URL)
}

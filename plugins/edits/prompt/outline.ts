const MOST_LINES = 80
const MOST_WIDTH = 120

/** What tells the structure of a kind of file, line by line. */
const TELLING: Readonly<Record<string, RegExp>> = {
  html: /<(title|h[1-6]|main|nav|header|footer|section|article|form|script|link|template)\b|\bid=/i,
  css: /^\S.*\{\s*$|^@/,
  js: /^\s*(export|import|class|(async\s+)?function)\b|^(const|let|var)\s+\w+\s*=/,
  md: /^#{1,6} /,
}

const KINDS: Readonly<Record<string, string>> = {
  html: 'html',
  htm: 'html',
  svg: 'html',
  css: 'css',
  js: 'js',
  mjs: 'js',
  ts: 'js',
  md: 'md',
}

/** The lines of a large file that tell how it is built, with their numbers from 1. */
export function outlineOf(path: string, text: string): string {
  const telling = TELLING[KINDS[extensionOf(path)] ?? ''] ?? /\S/
  const lines: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (lines.length === MOST_LINES) break
    const shown = line.slice(0, MOST_WIDTH)
    if (telling.test(shown)) lines.push(`${index + 1}: ${shown.trimEnd()}`)
  }
  return lines.join('\n')
}

export function extensionOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

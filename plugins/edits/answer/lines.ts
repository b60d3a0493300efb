/** The line that a fence opens with: three or more backticks, and what kind of text follows. */
export const FENCE: RegExp = /^(`{3,})[^`]*$/

export type Directive =
  | { readonly verb: 'file' | 'edit' | 'delete'; readonly path: string }
  | { readonly verb: 'rename'; readonly path: string; readonly to: string }

const DIRECTIVE = /^(?:#{1,6} +)?(?:\*\*)?(FILE|EDIT|DELETE|RENAME)(?:\*\*)?:? +(\S.*)$/
/** No path is as long; a line can be as long as a file. */
const MOST_WIDTH = 2000
const ARROW = / +(?:->|→|=>|TO) +/

/** The line that begins a block. Models like to set it in bold, or the path between backticks. */
export function readDirective(line: string): Directive | undefined {
  if (line.length > MOST_WIDTH) return undefined
  const [, word, rest = ''] = DIRECTIVE.exec(line.trimEnd()) ?? []
  if (word === undefined) return undefined
  if (word !== 'RENAME') return { verb: VERBS[word] ?? 'file', path: bare(rest) }
  const [from, to, more] = rest.split(ARROW)
  if (from === undefined || to === undefined || more !== undefined) return undefined
  return { verb: 'rename', path: bare(from), to: bare(to) }
}

const VERBS: Readonly<Record<string, 'file' | 'edit' | 'delete'>> = {
  FILE: 'file',
  EDIT: 'edit',
  DELETE: 'delete',
}

function bare(path: string): string {
  return path.replace(/\*\*$/, '').replace(/^(["`'])(.*)\1$/, '$2')
}

/** A fence that the text itself cannot close. */
export function fenceFor(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

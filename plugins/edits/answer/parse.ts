/** The line that a fence opens with: three or more backticks, and what kind of text follows. */
export const FENCE: RegExp = /^(`{3,})[^`]*$/

export type Directive =
  | { readonly verb: 'file' | 'edit' | 'delete'; readonly path: string }
  | { readonly verb: 'rename'; readonly path: string; readonly to: string }

const DIRECTIVE = /^(?:#{1,6} +)?(?:\*\*)?(FILE|EDIT|DELETE|RENAME)(?:\*\*)?:? +(\S.*)$/
/** No path is as long; a line can be as long as a file. */
const MAX_WIDTH = 2000
const ARROW = / +(?:->|→|=>|TO) +/

/** The line that begins a block. Models like to set it in bold, or the path between backticks. */
export function readDirective(line: string): Directive | undefined {
  if (line.length > MAX_WIDTH) return undefined
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

/** One change of an answer, as written. */
export type Block =
  | { readonly verb: 'file'; readonly path: string; readonly content: string }
  | {
      readonly verb: 'edit'
      readonly path: string
      readonly search: string
      readonly replace: string
    }
  | { readonly verb: 'delete'; readonly path: string }
  | { readonly verb: 'rename'; readonly from: string; readonly to: string }

/** What is wrong with an answer, or with its changes to one file. */
export interface Problem {
  /** Undefined for the answer as a whole. */
  readonly path: string | undefined
  readonly code: string
  /** For the model, which must repair it. */
  readonly message: string
  /** The file around the intended location. */
  readonly excerpt?: string
  /** Whether a repair must cover this file, because its intended content is lost. */
  readonly mustRepair: boolean
}

export interface ReadAnswer {
  readonly summary: string | undefined
  readonly blocks: readonly Block[]
  readonly problems: readonly Problem[]
}

const START = /^<{7} ?SEARCH\s*$/
const MIDDLE = /^={7}\s*$/
const END = /^>{7} ?REPLACE\s*$/

/**
 * Reads an answer while it arrives: however it is cut into pieces, the blocks are the same.
 *
 * A file ends at the first line that repeats its fence. A fence that was not opened therefore means that a
 * file ended too early, and that file is rejected.
 */
export class AnswerParser {
  readonly #onFile: (path: string) => void
  readonly #blocks: Block[] = []
  readonly #problems: Problem[] = []
  #state: (line: string) => void = this.#prose
  #summary: string | undefined
  #rest = ''
  #path = ''
  #fence = ''
  #lines: string[] = []
  #search: readonly string[] = []
  #isBroken = false
  /** The file whose end a stray fence calls into question. */
  #lastFile: string | undefined

  /** `onFile` is called with every path when its block begins. */
  constructor(onFile: (path: string) => void = () => undefined) {
    this.#onFile = onFile
  }

  push(text: string): void {
    // Splitting the rest with every piece would make a long line quadratic.
    if (!text.includes('\n')) {
      this.#rest += text
      return
    }
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#state(withoutReturn(line))
  }

  end(): ReadAnswer {
    if (this.#rest !== '') this.#state(withoutReturn(this.#rest))
    this.#rest = ''
    const isOpen = this.#state !== this.#prose && this.#state !== this.#edits
    if (isOpen && this.#state !== this.#thought) this.#fail('unfinished', 'The block has no end.')
    return { summary: this.#summary, blocks: this.#blocks, problems: this.#problems }
  }

  #prose(line: string): void {
    const directive = readDirective(line)
    if (directive !== undefined) this.#begin(directive)
    else if (/^\s*<think>/i.test(line)) this.#think(line)
    else if (FENCE.test(line)) this.#stray()
    else if (line.trim() !== '') this.#summary ??= line.trim()
  }

  #begin(directive: Directive): void {
    this.#path = directive.path
    this.#onFile(directive.path)
    if (directive.verb === 'delete') {
      this.#blocks.push({ verb: 'delete', path: directive.path })
      this.#state = this.#prose
    } else if (directive.verb === 'rename') {
      this.#blocks.push({ verb: 'rename', from: directive.path, to: directive.to })
      this.#state = this.#prose
    } else {
      this.#state = directive.verb === 'file' ? this.#opening : this.#edits
    }
  }

  #opening(line: string): void {
    const fence = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      this.#fence = fence
      this.#lines = []
      this.#state = this.#content
    } else if (line.trim() !== '') {
      this.#fail('no_fence', 'FILE must be followed by the whole file between fences.')
      this.#state = this.#prose
      this.#prose(line)
    }
  }

  #content(line: string): void {
    if (line.trimEnd() !== this.#fence) {
      this.#lines.push(line)
      return
    }
    const content = this.#lines.map((one) => `${one}\n`).join('')
    this.#blocks.push({ verb: 'file', path: this.#path, content })
    this.#lastFile = this.#path
    this.#state = this.#prose
  }

  /** Between the blocks of one EDIT, where fences around them mean nothing. */
  #edits(line: string): void {
    if (START.test(line)) {
      this.#lines = []
      this.#isBroken = false
      this.#state = this.#searched
    } else if (MIDDLE.test(line) || END.test(line)) {
      this.#fail('marker', 'A marker stands outside of its block.')
    } else if (line.trim() !== '' && !FENCE.test(line)) {
      this.#state = this.#prose
      this.#prose(line)
    }
  }

  #searched(line: string): void {
    if (MIDDLE.test(line)) {
      this.#search = this.#lines
      this.#lines = []
      this.#state = this.#replaced
    } else if (START.test(line) || END.test(line)) {
      this.#fail('marker', 'A block is SEARCH, =======, REPLACE, in this order.')
      this.#state = this.#edits
    } else {
      this.#lines.push(line)
    }
  }

  #replaced(line: string): void {
    if (END.test(line)) {
      const [search, replace] = [this.#search.join('\n'), this.#lines.join('\n')]
      if (!this.#isBroken) this.#blocks.push({ verb: 'edit', path: this.#path, search, replace })
      this.#state = this.#edits
    } else if (START.test(line) || MIDDLE.test(line)) {
      if (!this.#isBroken) this.#fail('marker', 'Lines like markers need a whole FILE.')
      this.#isBroken = true
    } else {
      this.#lines.push(line)
    }
  }

  #think(line: string): void {
    this.#state = this.#thought
    this.#thought(line)
  }

  /** The reasoning of some models, which may contain blocks. */
  #thought(line: string): void {
    if (/<\/think>/i.test(line)) this.#state = this.#prose
  }

  #stray(): void {
    if (this.#lastFile === undefined) return
    this.#path = this.#lastFile
    this.#lastFile = undefined
    this.#fail('fence', 'The file holds its own fence: use a longer one.')
  }

  #fail(code: string, message: string): void {
    this.#problems.push({ path: this.#path, code, message, mustRepair: true })
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

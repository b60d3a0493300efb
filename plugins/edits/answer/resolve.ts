import type { EditOperation } from '../contract.ts'
import { readText } from '../../../lib/internal/bytes.ts'
import { findElision } from './elision.ts'
import type { Block, Problem } from './parse.ts'
import { findLocation } from './location.ts'

/** The operations of an answer, each with its block. */
export interface Resolved {
  readonly operations: readonly EditOperation[]
  readonly blocks: readonly Block[]
  readonly problems: readonly Problem[]
}

/** Every path that a block changes. */
export function pathsOf(block: Block): readonly string[] {
  return block.verb === 'rename' ? [block.from, block.to] : [block.path]
}

/**
 * Turns blocks into exact operations on the base: every search that is near enough becomes a patch
 * whose search is the file's own text, once in the file, or else the whole file.
 */
export async function resolveBlocks(
  blocks: readonly Block[],
  read: (path: string) => Promise<Uint8Array | undefined>,
): Promise<Resolved> {
  const operations: EditOperation[] = []
  const sources: Block[] = []
  const problems: Problem[] = []
  const tree = new Tree(read)
  for (const block of blocks) {
    const made = await RESOLVERS[block.verb](block as never, tree)
    if ('op' in made) {
      operations.push(made)
      sources.push(block)
    } else {
      problems.push(made)
    }
  }
  return { operations, blocks: sources, problems }
}

type Resolvers = {
  readonly [Verb in Block['verb']]: (
    block: Extract<Block, { readonly verb: Verb }>,
    tree: Tree,
  ) => Promise<EditOperation | Problem>
}

const RESOLVERS: Resolvers = {
  async file({ path, content }, tree) {
    const elided = findElision(content, await tree.text(path))
    tree.write(path, content)
    return elided === undefined ? { op: 'write', path, content } : elision(path, elided)
  },
  async edit({ path, search, replace }, tree) {
    const text = await tree.text(path)
    if (text === undefined) return problem(path, 'file_not_found', 'There is no such text file.')
    const elided = findElision(replace, text)
    if (elided !== undefined) return elision(path, elided)
    const found = findLocation(text, search, replace)
    if (!found.ok) {
      const [code, message] =
        found.lines.length > 0
          ? ['search_ambiguous', `SEARCH fits ${found.lines.length} locations. Take in more lines.`]
          : ['search_not_found', 'SEARCH does not stand in the file as it is.']
      return { ...problem(path, code, message), excerpt: excerptOf(text, search, found.lines) }
    }
    const { location } = found
    const content = text.slice(0, location.start) + location.replace + text.slice(location.end)
    tree.write(path, content)
    const exact = text.slice(location.start, location.end)
    const isUnique = text.indexOf(exact) === text.lastIndexOf(exact)
    if (!isUnique) return { op: 'write', path, content }
    return { op: 'patch', path, search: exact, replace: location.replace }
  },
  async delete({ path }, tree) {
    tree.delete(path)
    return { op: 'delete', path }
  },
  async rename({ from, to }, tree) {
    tree.rename(from, to)
    return { op: 'rename', from, to }
  },
}

function elision(path: string, line: string): Problem {
  const message = `The line ${JSON.stringify(line.trim().slice(0, 120))} leaves something out. Write all of it.`
  return problem(path, 'elision', message)
}

function problem(path: string, code: string, message: string): Problem {
  return { path, code, message, mustRepair: true }
}

/** The base after the operations so far, read as needed. */
class Tree {
  readonly #read: (path: string) => Promise<Uint8Array | undefined>
  readonly #written = new Map<string, string>()
  /** The path in the base of a path's text; null when there is none. */
  readonly #origins = new Map<string, string | null>()

  constructor(read: (path: string) => Promise<Uint8Array | undefined>) {
    this.#read = read
  }

  async text(path: string): Promise<string | undefined> {
    const written = this.#written.get(path)
    if (written !== undefined) return written
    const origin = this.#origin(path)
    const bytes = origin === null ? undefined : await this.#read(origin)
    return bytes && readText(bytes)
  }

  write(path: string, content: string): void {
    this.#written.set(path, content)
  }

  delete(path: string): void {
    this.#written.delete(path)
    this.#origins.set(path, null)
  }

  rename(from: string, to: string): void {
    const written = this.#written.get(from)
    const origin = this.#origin(from)
    this.delete(from)
    this.delete(to)
    if (written === undefined) this.#origins.set(to, origin)
    else this.#written.set(to, written)
  }

  #origin(path: string): string | null {
    const origin = this.#origins.get(path)
    return origin === undefined ? path : origin
  }
}

const MAX_LINES = 60
const AROUND = 8

/** The text around the locations that a search could mean, or around the line most like one of it. */
export function excerptOf(text: string, search: string, locations: readonly number[]): string {
  const lines = text.split('\n')
  if (lines.length <= MAX_LINES) return text
  const length = search.split('\n').length
  const starts = locations.length > 0 ? locations : [likeliest(lines, search.split('\n'))]
  const shown = new Set<number>()
  for (const start of starts) {
    const [from, to] = [Math.max(0, start - AROUND), start + length + AROUND]
    for (let line = from; line < Math.min(to, lines.length); line += 1) {
      if (shown.size < MAX_LINES) shown.add(line)
    }
  }
  const parts: string[] = []
  let last = -1
  for (const line of shown) {
    if (parts.length > 0 && line !== last + 1) parts.push('[…]')
    parts.push(lines[line] ?? '')
    last = line
  }
  return parts.join('\n')
}

/** Where the search would begin if its longest line that the text has were the right one. */
function likeliest(lines: readonly string[], searched: readonly string[]): number {
  const byLength = searched
    .map((line, index) => ({ line: line.trim(), index }))
    .filter(({ line }) => line !== '')
    .sort((a, b) => b.line.length - a.line.length)
  for (const { line, index } of byLength) {
    const at = lines.findIndex((one) => one.trim() === line)
    if (at >= 0) return Math.max(0, at - index)
  }
  return 0
}

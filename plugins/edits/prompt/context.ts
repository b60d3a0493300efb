import type { EditTask, EditTools } from '../contract.ts'
import { EditError } from '../contract.ts'
import { fenceFor } from '../answer/lines.ts'
import { readText } from '../../../lib/internal/bytes.ts'
import { extensionOf, outlineOf } from './outline.ts'

export interface ContextLimits {
  /** How many characters of files are given, outlines included. */
  readonly files: number
  /** Files of more bytes are given by their outline, unless the prompt names them. */
  readonly wholeFile: number
  /** How many characters the prompt may have. */
  readonly prompt: number
}

const MOST_LISTED = 2000
const MOST_SHOWN = 200
/** A file beyond this is given by its name alone: reading it would cost more than its outline tells. */
const MOST_READ = 1024 * 1024

const TEXTS = new Set(
  'html htm css js mjs ts json svg md txt csv tsv xml webmanifest yaml yml'.split(' '),
)

/**
 * The app's files as a request shows them, in an order that the same files always have: the list of
 * all, then the texts. Each text stands in a fence that it cannot close.
 *
 * @throws EditError `context_too_large` for a prompt beyond its limit
 */
export async function writeFiles(
  task: EditTask,
  tools: Pick<EditTools, 'read' | 'progress' | 'signal'>,
  limits: ContextLimits,
): Promise<string> {
  if (task.prompt.length > limits.prompt) throw new EditError('context_too_large')
  const files = [...task.files].sort((a, b) => (a.path < b.path ? -1 : 1))
  const chosen = choose(files, task.prompt, limits)
  const shown = new Map<string, string>()
  let left = limits.files
  for (const [done, file] of chosen.entries()) {
    if (tools.signal.aborted) break
    tools.progress({ stage: 'reading', done, total: chosen.length, message: file.path })
    const bytes = await tools.read(file.path)
    const text = bytes && readText(bytes)
    if (text === undefined) continue
    const part = [file.isWhole ? whole(file.path, text) : '', outline(file.path, text)].find(
      (one) => one !== '' && one.length <= left,
    )
    if (part === undefined) continue
    left -= part.length
    shown.set(file.path, part)
  }
  const texts = files.flatMap(({ path }) => shown.get(path) ?? [])
  return [list(files), ...texts].join('\n\n')
}

interface Chosen {
  readonly path: string
  readonly isWhole: boolean
}

/** Texts that are not too large to read: what the prompt names first, then the page, then the small. */
function choose(
  files: EditTask['files'],
  prompt: string,
  limits: ContextLimits,
): readonly Chosen[] {
  const texts = files.filter(({ path, size }) => TEXTS.has(extensionOf(path)) && size <= MOST_READ)
  let left = limits.files
  return texts
    .map((file) => ({ ...file, isNamed: prompt.includes(file.path) }))
    .sort((a, b) => rank(a) - rank(b) || a.size - b.size || (a.path < b.path ? -1 : 1))
    .map(({ path, size, isNamed }) => {
      const isWhole = size <= left && (isNamed || size <= limits.wholeFile)
      if (isWhole) left -= size
      return { path, isWhole }
    })
    .slice(0, MOST_SHOWN)
}

function rank({ path, isNamed }: { readonly path: string; readonly isNamed: boolean }): number {
  if (isNamed) return 0
  return path === 'index.html' ? 1 : 2
}

function list(files: EditTask['files']): string {
  if (files.length === 0) return 'The app has no files yet.'
  const lines = files
    .slice(0, MOST_LISTED)
    .map(({ path, size }) => `${JSON.stringify(path)} ${size} bytes`)
  const more = files.length - lines.length
  return ['The files of the app:', ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function whole(path: string, text: string): string {
  const fence = fenceFor(text)
  return `The whole of ${JSON.stringify(path)}:\n${fence}\n${text.replace(/\n$/, '')}\n${fence}`
}

function outline(path: string, text: string): string {
  const lines = outlineOf(path, text)
  const fence = fenceFor(lines)
  return `An outline of ${JSON.stringify(path)}, with line numbers:\n${fence}\n${lines}\n${fence}`
}

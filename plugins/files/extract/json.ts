import type { Segment } from '../chunk.ts'
import { TARGET } from '../chunk.ts'
import { fileError } from '../contract.ts'
import { decodeText } from '../text.ts'
import type { ExtractLimits } from './command.ts'

type Entry = readonly [path: string, value: unknown]

/** A line `path: value` for every leaf, so that each passage shows its location. */
export function* jsonSegments(bytes: Uint8Array, limits: ExtractLimits): Generator<Segment> {
  const text = decodeText(bytes)
  if (text.trim() === '') return
  if (depthOf(text) > limits.depth)
    throw fileError('too_complex', { internal: 'nested too deeply' })
  let group = ''
  for (const line of linesOf(JSON.parse(text))) {
    if (group !== '' && group.length + line.length > TARGET) {
      yield { text: group, heading: null, page: null }
      group = ''
    }
    group += line
  }
  yield { text: group, heading: null, page: null }
}

function* linesOf(root: unknown): Generator<string> {
  const open: Iterator<Entry>[] = [[['', root] as const].values()]
  for (let entries = open.at(-1); entries !== undefined; entries = open.at(-1)) {
    const next = entries.next()
    if (next.done === true) {
      open.pop()
      continue
    }
    const [path, value] = next.value
    if (typeof value === 'object' && value !== null) open.push(entriesIn(path, value))
    else yield path === '' ? `${String(value)}\n` : `${path}: ${String(value)}\n`
  }
}

function* entriesIn(path: string, value: object): Generator<Entry> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield [`${path}[${index}]`, one]
    return
  }
  for (const key of Object.keys(value)) {
    yield [path === '' ? key : `${path}.${key}`, (value as Record<string, unknown>)[key]]
  }
}

/** Nesting depth of brackets outside strings, found before anything is parsed. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth--
  }
  return deepest
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

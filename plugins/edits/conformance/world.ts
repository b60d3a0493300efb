import assert from 'node:assert/strict'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import {
  EDIT_ERRORS,
  EditError,
  type EditOperation,
  type Editor,
  type EditOutcome,
  type EditProgress,
  type EditTask,
  type EditTools,
  type OperationFault,
  type Passage,
} from '../contract.ts'

/** What an editor gives the suite; made anew for every case. */
export interface EditHarness extends ConformanceHarness {
  readonly editor: Editor
  /**
   * A prompt that leads this editor to these operations, however often it is given: writes, patches,
   * renames and deletions of `BASE`.
   */
  promptFor(operations: readonly EditOperation[]): string
  /** A prompt that this editor is still carrying out when `tools.progress` has been called once. */
  readonly endlessPrompt: string
  /** One that lacks what it needs to carry out anything; given with the capability `configuration`. */
  openUnconfigured?(): Promise<Editor>
}

export type EditCase = ConformanceCase<EditHarness>

/** The app that every case works on. */
export const BASE: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html>\n<title>Shop</title>\n<h1>Shop</h1>\n<p>Open daily.</p>\n',
  'style.css': 'body {\n  color: black;\n}\n\nh1 {\n  color: navy;\n}\n',
  'old/notes.txt': 'one\ntwo\nthree\n',
}

/** The tools of one case, and what was done with them. */
export interface World {
  readonly tools: EditTools
  readonly reports: readonly EditProgress[]
  readonly reads: readonly string[]
  /** The files as they are now. */
  files(): Readonly<Record<string, string>>
}

export function sampleTask(prompt: string, changes: Partial<EditTask> = {}): EditTask {
  const files = Object.entries(BASE).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
  }))
  return {
    edit_id: 'edit-1',
    app_id: 'app-1',
    prompt,
    model: null,
    initial: false,
    files,
    ...changes,
  }
}

export function createWorld(
  changes: Partial<EditTools> = {},
  known: readonly Passage[] = [],
): World {
  const files = new Map(Object.entries(BASE).map(([path, text]) => [path, Buffer.from(text)]))
  const reports: EditProgress[] = []
  const reads: string[] = []
  const tools: EditTools = {
    signal: new AbortController().signal,
    async read(path) {
      reads.push(path)
      return files.get(path)
    },
    passages: async (_query, most) => known.slice(0, most),
    check: async (operations) => applied(BASE, operations).faults,
    progress: (report) => void reports.push(report),
    ...changes,
  }
  return {
    tools,
    reports,
    reads,
    files: () => Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()])),
  }
}

/** What operations make of a tree, and what of them does not fit: the rules of the core, in short. */
export function applied(
  base: Readonly<Record<string, string>>,
  operations: readonly EditOperation[],
): {
  readonly files: Readonly<Record<string, string>>
  readonly faults: readonly OperationFault[]
} {
  const files = new Map(Object.entries(base))
  const faults: OperationFault[] = []
  operations.forEach((operation, index) => {
    const code = apply(files, operation)
    if (code !== undefined) faults.push({ index, code, message: `${operation.op}: ${code}` })
  })
  return { files: Object.fromEntries(files), faults }
}

function apply(files: Map<string, string>, operation: EditOperation): string | undefined {
  if (operation.op === 'set_config') return undefined
  const from = operation.op === 'rename' ? operation.from : operation.path
  const to = operation.op === 'rename' ? operation.to : operation.path
  if (to.split('/').includes('..') || to.startsWith('/')) return 'invalid_path'
  if (operation.op === 'write') {
    files.set(to, operation.content)
    return undefined
  }
  const text = files.get(from)
  if (text === undefined) return 'file_not_found'
  if (operation.op === 'patch') {
    const parts = text.split(operation.search)
    if (operation.search === '' || parts.length !== 2) return 'search_not_unique'
    files.set(to, parts.join(operation.replace))
    return undefined
  }
  if (operation.op === 'rename' && files.has(to)) return 'path_taken'
  files.delete(from)
  if (operation.op === 'rename') files.set(to, text)
  return undefined
}

/** The outcome applied to the base; it must fit. */
export function resultOf(outcome: EditOutcome): Readonly<Record<string, string>> {
  assert.ok(outcome.operations.length > 0, 'an outcome without operations')
  const { files, faults } = applied(BASE, outcome.operations)
  assert.deepEqual(faults, [])
  return files
}

/** The error that an edit ended with, which is in the table and says so. */
export async function failureOf(edit: Promise<EditOutcome>): Promise<EditError> {
  const failure: unknown = await edit.then(
    () => assert.fail('it was carried out'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof EditError, `not an EditError: ${String(failure)}`)
  const row = EDIT_ERRORS[failure.code]
  assert.equal(failure.message, row.text)
  assert.equal(failure.class, row.class)
  assert.equal(failure.retryable, row.retryable)
  return failure
}

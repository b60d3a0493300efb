import assert from 'node:assert/strict'
import type { Binding, Reply } from './client.ts'
import type { Stage, WireTask } from './stage.ts'

/** A requirement of A2A 1.0.1 and what shows it; the ids are those of the protocol's compatibility kit. */
export interface Clause {
  readonly id: string
  readonly section: string
  readonly level: 'MUST' | 'SHOULD'
  readonly text: string
  /** Default: both. */
  readonly only?: Binding
  check(stage: Stage): Promise<void>
}

export function refusedFor(reply: Reply, reason: string): void {
  assert.equal(reply.result, undefined, reply.text)
  assert.equal(reply.error?.details[0]?.['reason'], reason, reply.text)
}

export async function listed(stage: Stage, request: Readonly<Record<string, unknown>> = {}) {
  const { result, text } = await stage.client.ask('ListTasks', request)
  assert.ok(result, text)
  return result as { tasks: WireTask[]; nextPageToken: string; totalSize: number; pageSize: number }
}

export async function got(
  stage: Stage,
  request: Readonly<Record<string, unknown>>,
): Promise<WireTask> {
  const { result, text } = await stage.client.ask('GetTask', request)
  assert.ok(result, text)
  return result as WireTask
}

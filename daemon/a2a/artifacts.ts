import { KeyhookError } from '../../lib/errors.ts'
import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { SkillArtifact, WireRecord } from '../operations/agent.ts'
import type { Operation } from '../operations/operation.ts'
import type { A2aCall } from './call.ts'
import { readJson } from './call.ts'
import type { WirePart } from '../jobs/tasks.ts'
import type { WireArtifact } from './wire.ts'

const JSON_TYPE = 'application/json'

/**
 * What a completed task led to: the answer of a read, or the record of the work and what its skill adds.
 * Those that the key may not read are left out.
 */
export async function artifactsOf(
  call: A2aCall,
  task: TaskRecord,
): Promise<readonly WireArtifact[]> {
  if (task.state !== 'completed') return []
  if (task.answer !== null) {
    const operation = call.agent.operations.find(({ id }) => id === task.skill)
    // The key may have been narrowed since it was answered.
    const mayRead = operation !== undefined && call.allows(operation)
    return mayRead ? [dataArtifact('answer', JSON.parse(task.answer))] : []
  }
  const record = await readRecord(call, task)
  if (record === undefined) return []
  const skill = call.agent.skills.find(({ tool }) => tool.operation.id === task.skill)?.skill
  const further: WireArtifact[] = []
  for (const artifact of skill?.artifacts ?? []) {
    const made = await makeArtifact(call, artifact, record)
    if (made !== undefined) further.push(made)
  }
  return [dataArtifact('record', record), ...further]
}

/** The edit, deployment or app of a task. */
export async function readRecord(
  call: A2aCall,
  { skill, record_path }: Pick<TaskRecord, 'skill' | 'record_path'>,
): Promise<WireRecord | undefined> {
  const operation = call.agent.operations.find(({ id }) => id === skill)
  if (record_path === null || operation === undefined) return undefined
  const work = call.agent.findWork(operation, record_path)
  return work && readAllowed(call, work.record, work.params)
}

async function makeArtifact(
  call: A2aCall,
  { name, operation: id, ask, as = 'data', mediaType, filename, show }: SkillArtifact,
  record: WireRecord,
): Promise<WireArtifact | undefined> {
  const operation = call.agent.operations.find((one) => one.id === id)
  const asked = ask(record)
  if (operation === undefined || asked === undefined) return undefined
  const answer = await readAllowed(call, operation, asked)
  if (answer === undefined) return undefined
  if (as === 'data') return dataArtifact(name, answer)
  const content = show?.(answer)
  if (content === undefined) return undefined
  const part: WirePart = {
    [as]: content,
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  }
  return { artifactId: name, name, parts: [part] }
}

function dataArtifact(name: string, data: unknown): WireArtifact {
  return { artifactId: name, name, parts: [{ data, mediaType: JSON_TYPE }] }
}

/** The key lacks a scope, or the record is gone. */
const LEFT_OUT: ReadonlySet<number> = new Set([403, 404, 409, 501])

async function readAllowed(
  call: A2aCall,
  operation: Operation,
  fields: Readonly<Record<string, string>>,
): Promise<WireRecord | undefined> {
  if (!call.allows(operation)) return undefined
  const { params, query } = byPlace(operation, fields)
  try {
    return await readJson(call, { operation, params, query })
  } catch (cause) {
    if (cause instanceof KeyhookError && LEFT_OUT.has(cause.status)) return undefined
    throw cause
  }
}

function byPlace({ path }: Operation, fields: Readonly<Record<string, string>>) {
  const isParam = ([name]: readonly [string, string]): boolean => path.includes(`{${name}}`)
  const all = Object.entries(fields)
  return {
    params: Object.fromEntries(all.filter(isParam)),
    query: Object.fromEntries(all.filter((one) => !isParam(one))),
  }
}

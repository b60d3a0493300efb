/**
 * What the protocol sends and receives as JSON. Requests are checked loosely: unknown fields are ignored, as
 * the protocol wants it, and known ones must be right.
 *
 * @module
 */
import { z } from 'zod'
import type { WireMessage, WirePart, WireStatus } from '../jobs/tasks.ts'
import { STATE_NAMES } from '../jobs/tasks.ts'

/** Members whose value is any JSON, in which null is a value. */
const ANY_JSON: ReadonlySet<string> = new Set(['data', 'metadata'])

/** No known member is deeper in a request. */
const DEEPEST = 6

/** A member that is null is unset, as in JSON of protocol buffers. */
export function withoutNulls(request: unknown, depth = 0): unknown {
  if (typeof request !== 'object' || request === null || depth === DEEPEST) return request
  if (Array.isArray(request)) return request.map((one) => withoutNulls(one, depth + 1))
  return Object.fromEntries(
    Object.entries(request)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, ANY_JSON.has(name) ? value : withoutNulls(value, depth + 1)]),
  )
}

/** Identifiers that callers choose. */
const name = z.string().regex(/^[\x20-\x7e]{1,100}$/, 'Send 1 to 100 printable ASCII characters.')
const nameOrNone = z.literal('').or(name).default('')
const metadata = z.record(z.string(), z.unknown())

/** One of its four contents, as the protocol's `oneof`. */
export const part = z
  .looseObject({
    text: z.string().optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    metadata: metadata.optional(),
    filename: z.string().optional(),
    mediaType: z.string().optional(),
  })
  .refine((one) => CONTENTS.filter((content) => one[content] !== undefined).length === 1, {
    message: 'A part has one of text, raw, url and data.',
  })

const CONTENTS = ['text', 'raw', 'url', 'data'] as const

export type Part = z.output<typeof part>

const message = z.looseObject({
  messageId: z.string().min(1).max(200),
  contextId: nameOrNone,
  taskId: nameOrNone,
  role: z.literal('ROLE_USER', 'A caller sends messages of ROLE_USER.'),
  parts: z.array(part).min(1).max(100),
  metadata: metadata.optional(),
  extensions: z.array(z.string().max(500)).max(20).optional(),
  referenceTaskIds: z.array(z.string().max(200)).max(20).optional(),
})

export type Message = z.output<typeof message>

/** An id that no task has names none; what is longer is not looked for. */
const taskId = z.string().min(1).max(200)

/** As JSON of protocol buffers, or as the text of a query. */
const count = (least: number, most: number) => z.coerce.number<unknown>().int().min(least).max(most)

const historyLength = count(0, 2 ** 31 - 1).optional()

/** There are no tenants: the key says whose work it is. */
const tenant = z.literal('', 'There are no tenants here.').optional()

const pushConfig = z.looseObject({
  tenant,
  id: nameOrNone,
  taskId: nameOrNone,
  url: z.string().min(1).max(2048),
  token: z.string().max(500).optional(),
  authentication: z
    .looseObject({ scheme: z.string().min(1), credentials: z.string().optional() })
    .optional(),
})

export const pushRequest = pushConfig.extend({ taskId })

export type PushConfig = z.output<typeof pushConfig>

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((one) => one === 'true')])

export const sendRequest = z.looseObject({
  tenant,
  message,
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string().max(200)).max(50).optional(),
      taskPushNotificationConfig: pushConfig.optional(),
      historyLength,
      returnImmediately: flag.default(false),
    })
    .default({ returnImmediately: false }),
  metadata: metadata.optional(),
})

export const taskRequest = z.looseObject({ tenant, id: taskId, historyLength })

const STATES = Object.values(STATE_NAMES)

export const listRequest = z.looseObject({
  tenant,
  contextId: nameOrNone,
  status: z.enum([...STATES, 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_UNSPECIFIED']).optional(),
  pageSize: count(1, 100).default(50),
  pageToken: z
    .string()
    .regex(/^(|\d{1,15}_[\w-]{1,100})$/, 'Send a nextPageToken of this list.')
    .default(''),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: flag.default(false),
})

export type ListRequest = z.output<typeof listRequest>

export const configRequest = z.looseObject({ tenant, taskId, id: name })

export const configsRequest = z.looseObject({
  tenant,
  taskId,
  pageSize: count(0, 100).optional(),
  pageToken: z.string().optional(),
})

export const cardRequest = z.looseObject({ tenant })

export interface WireArtifact {
  readonly artifactId: string
  readonly name: string
  readonly parts: readonly WirePart[]
}

export interface WireTask {
  readonly id: string
  readonly contextId: string
  readonly status: WireStatus
  readonly artifacts?: readonly WireArtifact[]
  readonly history?: readonly WireMessage[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface WireTaskList {
  readonly tasks: readonly WireTask[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

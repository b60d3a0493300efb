import type { FindWork } from '../agents/follow.ts'
import type { SkillSpec } from '../agents/skills.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import type { InnerAnswer, InnerRequest } from '../http/inner-context.ts'
import type { Operation } from '../operations/operation.ts'
import type { Platform } from '../platform.ts'

/** A call of an operation inside a request of the protocol. */
export type Ask = Omit<InnerRequest, 'via'>

/** What this service offers over the protocol; the same for every caller. */
export interface Agent {
  readonly skills: readonly SkillSpec[]
  readonly operations: readonly Operation[]
  readonly findWork: FindWork
}

/** One request of the protocol, in either binding. */
export interface A2aCall {
  readonly platform: Platform
  readonly agent: Agent
  readonly principal: KeyPrincipal
  readonly requestId: string
  /** Aborts once nobody waits for the response. */
  readonly left: AbortSignal
  /** @throws KeyhookError as a request of its own would be refused */
  run(request: Ask): Promise<InnerAnswer>
  /**
   * Reserves bytes of the response before they are read; those of a stream are counted as they are sent.
   *
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /** Whether the key may call an operation at all. */
  allows(operation: Operation): boolean
  /** Rejects when the caller may no longer read what it waits for. */
  admit(): Promise<void>
}

/** The skills that the key may ask for. */
export const skillsFor = ({ agent, allows }: A2aCall): readonly SkillSpec[] =>
  agent.skills.filter(({ tool }) => allows(tool.operation))

/**
 * The response of a read.
 *
 * @throws KeyhookError its refusal
 */
export async function readJson(
  call: Pick<A2aCall, 'run'>,
  request: Ask,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await call.run(request)
  if (answer.kind !== 'json') throw new TypeError(`${request.operation.id} is no read`)
  return JSON.parse(answer.text) as Readonly<Record<string, unknown>>
}

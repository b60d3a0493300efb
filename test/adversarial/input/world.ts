import type { Test } from 'tap'
import { FAMILIES } from '../../../daemon/families/index.ts'
import { keysFamily } from '../../../daemon/families/keys/family.ts'
import type { Operation } from '../../../daemon/operations/operation.ts'
import type { Principal } from '../../../daemon/authority/principal.ts'
import type { Received } from '../../support/ask.ts'
import { ask } from '../../support/ask.ts'
import type { AnyBody, World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Saw } from '../run.ts'

export const OPERATIONS: readonly Operation[] = FAMILIES.flatMap(({ operations }) => operations)

export interface ErrorAnswer {
  readonly status: number
  /** Empty for a success. */
  readonly code: string
  /** Bytes of the body. */
  readonly size: number
  readonly locations: readonly string[]
  readonly details: AnyBody
  readonly body: AnyBody
}

interface Sent {
  readonly text?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface InputWorld extends World {
  /** Sends bytes as they are, as whoever may call the operation; a 5xx other than 501 rejects. */
  send(operation: Operation, path: string, sent?: Sent): Promise<ErrorAnswer>
}

const CALLER = 'test-caller'

/** Every family of the daemon, asked with bodies that no client library would send. */
export async function openInputWorld(t: Test, saw: Saw): Promise<InputWorld> {
  const callers = new Map<string, Principal>()
  const world = await createWorld(t, {
    families: FAMILIES.filter((family) => family !== keysFamily),
    resolve: () => async (ctx) => callers.get(ctx.get(CALLER)),
  })
  callers.set('owner', world.user).set('user', world.user)
  callers.set('operator', world.operatorFor(null)).set('portal', world.portal)
  const { key } = await world.mintKey({ scopes: ['*:*'] })

  return {
    ...world,
    async send({ access, method }, path, { text, headers = {} } = {}) {
      const answer = await ask(world.baseUrl + path, {
        method,
        headers: {
          ...(access === 'public' ? {} : { authorization: `Bearer ${key}` }),
          ...(typeof access === 'string' ? { [CALLER]: access } : {}),
          'content-type': 'application/json',
          ...headers,
        },
        body: text,
      })
      return readAnswer(answer, saw)
    },
  }
}

function readAnswer({ status, text }: Received, saw: Saw): ErrorAnswer {
  const body = JSON.parse(text) as AnyBody
  const error = (body['error'] ?? {}) as {
    readonly code?: string
    readonly details?: AnyBody
    readonly errors?: readonly { readonly location: string }[]
  }
  const { code = '', details = {}, errors = [] } = error
  saw(code === '' ? String(status) : `${status} ${code}`)
  if (status >= 500 && status !== 501) throw new Error(`${status}: ${text}`)
  const locations = errors.map(({ location }) => location)
  return { status, code, size: Buffer.byteLength(text), locations, details, body }
}

export function operationOf(id: string): Operation {
  const found = OPERATIONS.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

/** `count` pieces with commas between them. */
export function many(count: number, piece: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join(',')
}

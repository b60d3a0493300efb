import type { Test } from 'tap'
import { createAccountsFamily } from '../../../daemon/families/accounts/family.ts'
import { createPasswords } from '../../../daemon/families/accounts/password.ts'
import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { auditFamily } from '../../../daemon/families/audit/family.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import { filesFamily } from '../../../daemon/families/files/family.ts'
import { webhooksFamily } from '../../../daemon/families/webhooks/family.ts'
import { createResolver } from '../../../daemon/http/resolve.ts'
import { toIso, type Instant } from '../../../lib/time.ts'
import { a2aProtocol } from '../../../daemon/a2a/endpoint.ts'
import { keysFamily } from '../../../daemon/families/keys/family.ts'
import { mcp } from '../../../daemon/mcp/endpoint.ts'
import type { Family } from '../../../daemon/operations/family.ts'
import type { VirtualClock } from '../../support/clock.ts'
import { createClock } from '../../support/clock.ts'
import type { Answer, AnyBody, Asker, Asking, World, WorldOptions } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Saw } from '../run.ts'

export const START: Instant = Date.parse('2030-01-31T12:00:00.000Z')

/** Bears the operator in a key world. */
export const OPERATOR_TOKEN = 'the-operator-of-adversarial-tests'

export interface Minted extends AnyBody {
  readonly id: string
  readonly key: string
}

/** The API with callers told from each other as the daemon does. Steps that prepare a case are not noted. */
export interface KeyWorld extends World {
  readonly clock: VirtualClock
  /** As `request`, and notes the outcome. */
  attempt<Body = AnyBody>(method: string, path: string, asking?: Asking): Promise<Answer<Body>>
  /** The same; answers the status and the code of a refusal, such as `201` or `403 key_not_managed`. */
  ask(method: string, path: string, as?: Asker, body?: unknown): Promise<string>
  /** Makes a key that must be made; as the user unless told otherwise. */
  make(given: AnyBody, as?: Asker): Promise<Minted>
  mint(as: Asker, given: AnyBody): Promise<string>
  rotate(id: string, as?: Asker, body?: unknown): Promise<Answer<Minted>>
  /** What the bearer of a value is told when it asks about itself. */
  standing(value: string): Promise<string>
  /** An instant after the start, as it is written on the wire. */
  at(ms: number): string
}

const families = [
  webhooksFamily,
  eventsFamily,
  createAccountsFamily({ passwords: createPasswords({ cost: { ln: 4, r: 8, p: 1 } }) }),
]

/** How keys ask in the worlds of this process. */
type Speak = (world: World, families: readonly Family[]) => World['request']

let speak: Speak = ({ request }) => request

/**
 * From now on keys ask in that way, in every world that is opened.
 *
 * @returns how they asked before
 */
export function speakBy(next: Speak): Speak {
  const before = speak
  speak = next
  return before
}

export async function openWorld(
  t: Pick<Test, 'testdir' | 'teardown'>,
  saw: Saw,
  options: WorldOptions = {},
): Promise<KeyWorld> {
  const clock = createClock(START)
  const opened = [...families, ...(options.families ?? [])]
  const plain = await createWorld(scopeOf(t), {
    clock,
    resolve: (platform) => createResolver({ platform, operatorToken: OPERATOR_TOKEN }),
    ...options,
    families: opened,
    protocols: [mcp, a2aProtocol(opened)],
  })
  const request = speak(plain, [keysFamily, ...opened])
  const world = { ...plain, request }
  const attempt: KeyWorld['attempt'] = async (method, path, asking) => {
    const answer = await request<never>(method, path, asking)
    saw(told(answer))
    return answer
  }
  const ask: KeyWorld['ask'] = async (method, path, as = world.user, body) =>
    told(await attempt(method, path, { as, body }))
  return {
    ...world,
    clock,
    attempt,
    ask,
    async make(given, as = world.user) {
      const body = { name: 'a key', ...given }
      const made = await request<Minted>('POST', '/v1/keys', { as, body })
      if (made.status !== 201) throw new Error(`no key: ${JSON.stringify(made.body)}`)
      return made.body
    },
    mint: (as, given) => ask('POST', '/v1/keys', as, { name: 'a key', ...given }),
    rotate: (id, as = world.user, body) =>
      request<Minted>('POST', `/v1/keys/${id}/rotate`, { as, body }),
    standing: (value) => ask('GET', '/v1/keys/self', value),
    at: (ms) => toIso(START + ms),
  }
}

/** A key world whose pins name apps that there are. */
export interface AppWorld extends KeyWorld {
  /** Two apps of the account. */
  readonly a1: string
  readonly a2: string
}

export async function openAppWorld(
  t: Pick<Test, 'testdir' | 'teardown'>,
  saw: Saw,
): Promise<AppWorld> {
  const families = [appsFamily, editsFamily, filesFamily, auditFamily]
  const world = await openWorld(t, saw, { families, appIds: 'own' })
  const body = { template_id: 'blank' }
  const make = async (): Promise<string> =>
    (await world.request<{ id: string }>('POST', '/v1/apps', { body })).body.id
  return { ...world, a1: await make(), a2: await make() }
}

/** The folder alone, so that a second world may be opened over it. */
function scopeOf(t: Pick<Test, 'testdir' | 'teardown'>): Parameters<typeof createWorld>[0] {
  return { testdir: () => t.testdir(), teardown: (handler) => t.teardown(handler) }
}

function told({ status, body }: { readonly status: number; readonly body: object }): string {
  // The record of work that went well has an error that is null.
  const { error } = body as { readonly error?: { readonly code: string } | null }
  return error ? `${status} ${error.code}` : String(status)
}

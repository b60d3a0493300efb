import { z } from 'zod'
import t, { type Test } from 'tap'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { defineFamily } from '../../daemon/operations/family.ts'
import { READS, operation } from '../../daemon/operations/operation.ts'
import { accountOf } from '../../daemon/authority/principal.ts'
import type { UserPrincipal } from '../../daemon/authority/principal.ts'
import type { Asked, Bed, Walk } from './operations/emitted.ts'
import {
  askAll,
  BUILT_IN,
  declaredBy,
  familiesIn,
  openBed,
  openGarden,
} from './operations/emitted.ts'
import type { Canary } from './operations/planted.ts'
import { until } from '../support/daemon.ts'
import { faultsOfEvent } from '../support/openapi.ts'
import type { World } from '../support/world.ts'
import { OPERATIONS } from './rows/operations.ts'
import { runSection } from './run.ts'

/** Operations that a key may call because it holds their scope. */
const SCOPED = FAMILIES.flatMap(({ operations }) => operations).flatMap((operation) =>
  typeof operation.access === 'object' ? [{ operation, scope: operation.access.scope }] : [],
)

/** Built-in types that no operation sends to a webhook for all of them, and why. */
const NOT_SENT: Readonly<Record<string, string>> = {
  'billing.balance_low': 'it tells amounts: a webhook names it and its key has billing:read',
  'billing.credited': 'it tells amounts: a webhook names it and its key has billing:read',
  'billing.subscription_changed':
    'it tells of payments: a webhook names it and its key has billing:read',
  'domain.failed': 'it takes three days or a week',
  'webhook.disabled': 'it takes deliveries that fail',
  'webhook.failing': 'it takes deliveries that fail',
  'webhook.test': 'it is sent to the tested webhook alone',
}

/** Lists that are no pages: sessions of a user, settings, templates of the release, limits, passages that a search asks for, one verdict for each given key, master keys. */
const BOUNDED_LISTS: readonly string[] = [
  'accounts.list_sessions',
  'apps.templates',
  'billing.limits',
  'files.search',
  'keys.verify_batch',
  'operator.settings',
  'seals.status',
]

function answersList({ effect, output }: Operation): boolean {
  return (
    READS.has(effect) && output instanceof z.ZodObject && output.shape['data'] instanceof z.ZodArray
  )
}

const own: Canary = (family) => `planted-${family}-own`
const foreign: Canary = (family) => `planted-${family}-foreign`

/** One operation, called by a key that holds its scope alone. */
interface Visit {
  readonly operation: Operation
  readonly bed: Bed
  readonly asked: readonly Asked[]
  /** The same, asked for the records of another account. */
  readonly beyond: readonly Asked[]
}

async function visitAll(walk: Walk): Promise<readonly Visit[]> {
  const other = await openBed(walk.garden, foreign, '*:*')
  const visits: Visit[] = []
  for (const { operation, scope } of SCOPED) {
    const bed = await openBed(walk.garden, own, scope, operation.id)
    const { access } = operation
    // A key manages itself and what it minted.
    const itself = typeof access === 'object' && access.self !== undefined
    const ids = itself ? { ...bed.ids, [access.self]: bed.key_id } : bed.ids
    const beyond = await askAll(walk.garden, operation, bed.key, other.ids)
    const asked = await askAll(walk.garden, operation, bed.key, ids)
    visits.push({ operation, bed, asked, beyond })
  }
  return visits
}

function texts(asked: readonly Asked[]): readonly string[] {
  return asked.map(({ text }) => text)
}

/** Whether the path names a record of an account; every account may declare an event type of one name. */
function namesRecord({ path }: Operation): boolean {
  return /\{(?!type\})/.test(path)
}

/** Families whose data an operation let out without a declaration. */
function undeclared(operation: Operation, asked: readonly Asked[]): readonly string[] {
  const declared = declaredBy(operation)
  return familiesIn(texts(asked), own).filter((family) => !declared.includes(family))
}

/** Publishes an event of a declared type, and one of the service, to whatever webhooks the visits left, and waits for its deliveries. */
async function publishToAll({ garden: { world } }: Walk, { user }: Bed): Promise<void> {
  const event = { type: 'order.paid', data: { note: own('events') } }
  const app = { template_id: 'blank', name: own('apps') }
  for (const [path, body] of [
    ['/v1/events', event],
    ['/v1/apps', app],
  ] as const) {
    const { status } = await world.request('POST', path, { as: user, body })
    if (status >= 300) throw new Error(`${path} answered ${status}`)
  }
  await untilDelivered(world, user)
}

function untilDelivered(world: World, user: UserPrincipal): Promise<void> {
  return until('all is delivered', async () => {
    const webhooks = await world.request<Page>('GET', '/v1/webhooks', { as: user })
    const pages = webhooks.body.data.map(({ id }) =>
      world.request<Page>('GET', `/v1/webhooks/${id}/deliveries?limit=100`, { as: user }),
    )
    const deliveries = (await Promise.all(pages)).flatMap((page) => page.body.data)
    return deliveries.every(({ status }) => status !== 'pending' && status !== 'delivering')
  })
}

interface Page {
  readonly data: readonly { readonly id: string; readonly status: string }[]
}

const leaking = operation({
  effect: 'read',
  id: 'leaks.show',
  summary: 'Show what it should not',
  method: 'GET',
  path: '/v1/leaks',
  access: { scope: 'leaks:read', pinned: 'allowed' },
  agent: { toolset: 'leaks' },
  emits: ['leaks'],
  input: {},
  output: z.unknown(),
  errors: [],
  example: { response: {} },
  async run({ platform: { store }, principal }) {
    const account_id = accountOf(principal)
    const query = { account_id, apps: null, after: null, limit: 10 }
    const [webhooks, apps] = await Promise.all([
      store.webhooks.list({ ...query, status: null } as never),
      store.apps.list({ ...query, status: null, search: null } as never),
    ])
    return { webhooks, apps }
  },
})
const leaks = defineFamily({
  name: 'leaks',
  scopes: { leaks: ['read'] },
  events: [],
  errors: { rows: {} },
  operations: [leaking],
})

await t.test('what operations let out', async (t: Test) => {
  const walk = await openGarden(t, [leaks])
  const visits = await visitAll(walk)
  t.comment(
    `${visits.length} operations, ${visits.flatMap(({ asked, beyond }) => [...asked, ...beyond]).length} requests`,
  )

  await runSection(t, OPERATIONS, {
    G01: async (t, saw) => {
      for (const { operation, scope } of SCOPED) {
        const [family = ''] = scope.split(':')
        for (const emission of operation.emits) {
          if (typeof emission === 'string') t.equal(emission, family, operation.id)
          else t.ok(emission.requires ?? emission.because, operation.id)
        }
      }
      saw('declared')
    },
    G02: async (t, saw) => {
      for (const { operation, asked } of visits) {
        t.same(undeclared(operation, asked), [], operation.id)
        const answers = asked.map(({ status, text }) => `${status} ${text}`)
        t.ok(
          asked.some(({ status }) => status < 300),
          `${operation.id} succeeds`,
          { answers },
        )
      }
      saw('nothing else')
    },
    G03: async (t, saw) => {
      for (const { operation, beyond } of visits) {
        t.same(familiesIn(texts(beyond), foreign), [], operation.id)
        if (!namesRecord(operation)) continue
        for (const { status } of beyond) t.ok(status >= 400, `${operation.id}: ${status}`)
        // Nothing but the record is wrong with this one.
        const wellFormed = operation.input.parts === undefined ? beyond[0] : beyond.at(-1)
        saw(`${wellFormed?.status}`)
      }
    },
    G04: async (t, saw) => {
      const registering = visits.filter(({ operation }) => operation.id.startsWith('webhooks.'))
      for (const { bed } of registering) await publishToAll(walk, bed)
      const sent = walk.outlets.delivered().filter(({ path }) => path.startsWith('/of/'))
      t.not(sent.length, 0, 'webhooks of such keys do receive')
      t.same(
        familiesIn(
          sent.map(({ text }) => text),
          own,
        ),
        [],
      )
      saw('nothing else')
    },
    G08: async (t, saw) => {
      for (const { bed } of visits) await untilDelivered(walk.garden.world, bed.user)
      const sent = walk.outlets.delivered().filter(({ path }) => path === BUILT_IN)
      const texts = sent.map(({ text }) => text)
      t.same([...familiesIn(texts, own), ...familiesIn(texts, foreign)], [])
      const events = texts.map((text) => JSON.parse(text) as { readonly type: string })
      t.same([...new Set(events.flatMap(faultsOfEvent))], [], 'each has the data that it declares')
      const types = new Set(events.map(({ type }) => type))
      t.comment(`${sent.length} events of ${types.size} types`)
      const builtIn = FAMILIES.flatMap(({ events }) => events).map(({ type }) => type)
      t.same(
        [...new Set(builtIn)].filter((type) => !types.has(type)).sort(),
        Object.keys(NOT_SENT).sort(),
      )
      saw('nothing else')
    },
    G05: async (t, saw) => {
      const shown = walk.outlets.prompts.filter((text) => text.includes('asked by a key'))
      t.not(shown.length, 0)
      t.same(familiesIn(shown, own), [])
      saw('no passages')
    },
    G06: async (t, saw) => {
      const bed = await openBed(walk.garden, own, 'leaks:read')
      const found = undeclared(leaking, await askAll(walk.garden, leaking, bed.key, bed.ids))
      for (const family of found) saw(family)
      t.not(found.length, 0)
    },
    G07: async (t, saw) => {
      const lists = FAMILIES.flatMap(({ operations }) => operations).filter(answersList)
      t.ok(lists.length > 15, `${lists.length} lists`)
      for (const { id, input, output } of lists) {
        if (BOUNDED_LISTS.includes(id)) continue
        const shapes = { ...input.query?.shape, ...(output as z.ZodObject).shape }
        for (const name of ['limit', 'cursor', 'has_more', 'next_cursor']) {
          t.ok(name in shapes, `${id}: ${name}`)
        }
      }
      saw('paged')
    },
  })
})

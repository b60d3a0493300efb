import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Json } from '../wire.ts'
import type { Office } from './office.ts'

const TYPES = [
  'crash.a',
  'crash.a',
  'crash.a',
  'crash.a',
  'crash.b',
  'crash.b',
  'crash.b',
  'crash.b',
  'crash.c',
] as const
const FILLINGS = [0, 0, 0, 0, 300, 2000, 20_000] as const
const LARGEST_BATCH = 12
const REST = 80

interface Event {
  readonly type: string
  readonly id?: string
  readonly data: { readonly mark: string; readonly filling: string }
}

interface Way {
  readonly many: boolean
  readonly ids: boolean
  readonly keyed: boolean
}

/** Every way to publish: with ids and without, one and many, under an `Idempotency-Key` or not. */
const WAYS: readonly [Way, ...Way[]] = [
  { many: false, ids: false, keyed: false },
  { many: false, ids: true, keyed: false },
  { many: false, ids: true, keyed: false },
  { many: false, ids: false, keyed: true },
  { many: true, ids: true, keyed: false },
  { many: true, ids: false, keyed: true },
]

/** Publishes one request after the other. */
export async function publishOn(office: Office, random: SeededRandom): Promise<never> {
  for (;;) {
    await office.rest(random.below(REST))
    const { many, ids, keyed } = random.pick(WAYS)
    const type = random.pick(TYPES)
    const number = office.next()
    const events = Array.from({ length: many ? 1 + random.below(LARGEST_BATCH) : 1 }, (_, index) =>
      createEvent(`m${number}_${index}`, type, ids, random),
    )
    await office.run(
      { kind: 'publish', type, marks: events.map(({ data }) => data.mark) },
      {
        method: 'POST',
        path: '/v1/events',
        body: many ? { events } : events[0],
        headers: keyed ? { 'idempotency-key': `k${number}` } : {},
        once: !ids && !keyed,
        note: (body) => ({ ids: readIds(body) }),
      },
    )
  }
}

function createEvent(mark: string, type: string, named: boolean, random: SeededRandom): Event {
  const filling = 'x'.repeat(random.pick(FILLINGS))
  return { ...(named ? { id: `evt_${mark}` } : {}), type, data: { mark, filling } }
}

/** A refused one has no id, which the checks then miss. */
function readIds(body: Json): readonly string[] {
  const answers = (body['data'] as readonly Json[] | undefined) ?? [body]
  return answers.map(({ id }) => String(id))
}

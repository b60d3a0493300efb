import type { Api } from '../../crash/api.ts'
import type { Json } from '../../crash/wire.ts'
import { rest, steady } from '../../fleet/steady.ts'

/** Any of the daemons, another each time. */
type AnyOf = () => Api

/** A deployment that was asked for: where its app is asked about, and what was answered. */
interface Made {
  readonly at: string
  readonly id: string
  readonly made: Json
}

/** How one finds out that a deployment is over. */
interface Way {
  readonly query: '' | '?wait=5'
  /** Answers the status that it has then; `late` when it takes too long. */
  untilOver(anyOf: AnyOf, made: Made): Promise<string>
}

const OPEN: readonly unknown[] = ['queued', 'building', 'deploying']
const FAILED: readonly unknown[] = ['failed', 'canceled']
const TOLD: readonly unknown[] = ['app.deployed', 'app.rolled_back']
const SOON = 5
/** How soon it ends is a figure of the bench: a busy machine may take long. */
const PATIENCE = 120_000

async function untilDefined(read: () => Promise<string | undefined>): Promise<string> {
  const end = steady() + PATIENCE
  for (;;) {
    const status = await read()
    if (status !== undefined) return status
    if (steady() > end) return 'late'
    await rest(SOON)
  }
}

/** @param path of the deployment */
export function lookUntilOver(anyOf: AnyOf, path: string): Promise<string> {
  return untilDefined(async () => {
    const { status } = await anyOf().ask('GET', path)
    return OPEN.includes(status) ? undefined : String(status)
  })
}

/** Looks elsewhere whether it is live, and at it whether it failed. */
function lookElsewhere(
  read: (api: Api, made: Made) => Promise<boolean>,
): Pick<Way, 'query' | 'untilOver'> {
  return {
    query: '',
    untilOver: (anyOf, made) =>
      untilDefined(async () => {
        if (await read(anyOf(), made)) return 'live'
        const { status } = await anyOf().ask('GET', `${made.at}/deployments/${made.id}`)
        return FAILED.includes(status) ? String(status) : undefined
      }),
  }
}

export const WAYS: readonly [Way, ...Way[]] = [
  {
    query: '?wait=5',
    untilOver: (anyOf, { at, id, made }) =>
      OPEN.includes(made['status'])
        ? lookUntilOver(anyOf, `${at}/deployments/${id}?wait=5`)
        : Promise.resolve(String(made['status'])),
  },
  { query: '', untilOver: (anyOf, { at, id }) => lookUntilOver(anyOf, `${at}/deployments/${id}`) },
  lookElsewhere(async (api, { at, id }) => {
    const { live } = await api.ask('GET', `${at}/deploy/status`)
    return (live as Json | null)?.['id'] === id
  }),
  lookElsewhere(async (api, { at, id }) => {
    const { current_deployment_id: current } = await api.ask('GET', at)
    return current === id
  }),
  lookElsewhere(async (api, { id }) => {
    const { data } = await api.ask('GET', '/v1/events?limit=5')
    const events = data as readonly { type: string; data: Json }[]
    return events.some(
      ({ type, data: told }) => TOLD.includes(type) && told['deployment_id'] === id,
    )
  }),
]

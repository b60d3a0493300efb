import { Agent } from 'node:http'
import type { Json } from '../../crash/wire.ts'
import { rest } from '../../fleet/steady.ts'
import { ask } from './ask.ts'
import { readBody } from './body.ts'
import type { CyclesLedger } from './invariants.ts'
import type { Place } from './place.ts'
import type { Timeline } from './timeline.ts'

/** The event that tells of each end. */
const EVENTS: Readonly<Record<string, string>> = {
  publish: 'app.deployed',
  rollback: 'app.rolled_back',
  unpublish: 'app.unpublished',
  failed: 'app.deploy_failed',
  canceled: 'app.deploy_failed',
}

const TELLS_WITHIN = 10_000

/** Holds what is on record once everything is over against what was asked for and what is served. */
export async function checkAfter(
  { apis: [api], addresses, app }: Place,
  timeline: Timeline,
  ledger: CyclesLedger,
): Promise<void> {
  const at = `/v1/apps/${app}`
  const everything = `${at}/deployments?include=failed,canceled,in_progress`
  const deployments = await api.list(everything)
  const expected = deployments.map(
    ({ id, kind, status }) => `${EVENTS[String(status)] ?? EVENTS[String(kind)]} ${String(id)}`,
  )
  let told: readonly string[] = []
  for (const end = Date.now() + TELLS_WITHIN; told.length < expected.length && Date.now() < end;) {
    told = (await api.list('/v1/events')).flatMap(({ type, data }) => {
      const { deployment_id: id } = data as Json
      return typeof id === 'string' ? [`${String(type)} ${id}`] : []
    })
    if (told.length < expected.length) await rest(100)
  }
  for (const one of expected) {
    const times = told.filter((other) => other === one).length
    ledger.check('told.once', times === 1, () => `${one} was told of ${times} times`)
  }
  const strays = told.filter((one) => !expected.includes(one))
  ledger.check('told.once', strays.length === 0, () => `told of beside: ${strays.join(', ')}`)

  const live = deployments.filter(({ status }) => status === 'live')
  const open = deployments.filter(({ status }) =>
    ['queued', 'building', 'deploying'].includes(String(status)),
  )
  const last = timeline.turns.at(-1)?.content ?? null
  const isOne = live.length === (last === null ? 0 : 1) && open.length === 0
  ledger.check('live.one', isOne, () => JSON.stringify({ live, open, last }))
  const agent = new Agent()
  for (const address of addresses) {
    const answer = await ask(agent, address, { method: 'GET', path: '/', headers: {} })
    const { number, isOffline } = readBody(answer)
    const served = isOffline ? null : number
    const record = live[0]?.['revision'] ?? null
    ledger.check('live.one', served === record && record === last, () => {
      return JSON.stringify({ served, record, last })
    })
  }
}

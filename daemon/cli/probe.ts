import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { readConfig } from '../config/config.ts'
import { askSocket } from './ask.ts'
import type { Check } from './check.ts'
import { attempt } from './check.ts'

/** What a supervisor asks of a daemon, by the option that asks it. */
const PROBES = {
  live: { path: '/healthz', yes: 'the running daemon answers' },
  ready: { path: '/readyz', yes: 'the running daemon can write' },
} as const

export type Probe = keyof typeof PROBES

/** Less than what a supervisor waits. */
const ANSWER_WITHIN: Millis = 5 * SECOND

/**
 * Asks the daemon of the data folder on its control socket, and looks at nothing else: it is asked every few seconds,
 * where neither a shell nor another client is installed.
 */
export async function probe(
  name: Probe,
  env: Readonly<NodeJS.ProcessEnv>,
  within: Millis = ANSWER_WITHIN,
): Promise<Check> {
  const { path, yes } = PROBES[name]
  const { check } = await attempt(name, async () => {
    const request = { method: 'GET', path, body: undefined }
    const answer = await askSocket(readConfig(env), request, undefined, within)
    if (answer === undefined) throw new Error('no daemon runs on KEYHOOK_DATA_DIR')
    if (answer.status !== 200) throw new Error(`the daemon answers ${answer.status}: see its log`)
    return { detail: yes }
  })
  return check
}

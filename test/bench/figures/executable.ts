import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { now } from '../clock.ts'
import type { Figure, Values } from '../figure.ts'
import type { Round } from '../round.ts'
import { peakResident, serveAt } from './restart.ts'

const BUILD = fileURLToPath(new URL('../../../daemon/executable/build.js', import.meta.url))
const EXECUTABLE = join(dirname(BUILD), '../../keyhook')

let built: Promise<unknown> | undefined

/** Seconds from the start of a process in an empty folder until it is ready, and what was resident. */
async function startOnce(
  round: Round,
  command?: readonly [string, ...string[]],
): Promise<{ readonly seconds: number; readonly resident: number }> {
  const { env } = await round.place('sqlite')
  const started = now()
  const { url, pid } = await serveAt(round, env, command)
  const { status } = await fetch(`${url}/readyz`)
  if (status !== 200) throw new Error(`readyz answered ${status}`)
  return { seconds: (now() - started) / 1e6, resident: await peakResident(pid) }
}

async function measure(round: Round): Promise<Values> {
  // Once for all rounds, of what was compiled.
  built ??= promisify(execFile)(process.execPath, [BUILD])
  await built
  const npm = await startOnce(round)
  const single = await startOnce(round, [EXECUTABLE])
  return {
    'size MB': (await stat(EXECUTABLE)).size / 1e6,
    'ready s': single.seconds,
    'npm form ready s': npm.seconds,
    ratio: single.seconds / npm.seconds,
    'resident MB': single.resident,
    'npm form resident MB': npm.resident,
  }
}

export const executable: Figure = {
  name: 'executable',
  title: 'start of the single executable, SQLite',
  baseline: 'the npm form, started in the same round',
  goals: [
    { value: 'ratio', at_most: 1.2 },
    { value: 'size MB', at_most: 200 },
  ],
  takes: 6,
  measure,
}

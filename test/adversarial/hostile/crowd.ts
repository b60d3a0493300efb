/**
 * Every hostile receiver that can be sent to again and again, in a process of its own: what they hold,
 * and the time they take, is not counted to the sender.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ANSWER_ROWS } from './rows/answers.ts'
import { CONNECTION_ROWS } from './rows/connections.ts'
import { HANDSHAKE_ROWS } from './rows/handshakes.ts'
import { WISH_ROWS } from './rows/wishes.ts'
import type { Door } from './stand.ts'

const [folder = '.'] = process.argv.slice(2)

const rows = [...CONNECTION_ROWS, ...ANSWER_ROWS, ...HANDSHAKE_ROWS, ...WISH_ROWS].filter(
  ({ once, padding }) => once === undefined && padding === undefined,
)
const doors: readonly Door[] = await Promise.all(
  rows.map(async ({ start }, at) => {
    const place = join(folder, String(at))
    mkdirSync(place)
    const { port, ca } = await start(place)
    return { port, ca }
  }),
)
process.send?.(doors)
process.once('disconnect', () => process.exit())

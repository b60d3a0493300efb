import t from 'tap'
import {
  MOST_LINES,
  MOST_PROBLEMS,
  MOST_PROBLEMS_OF_APP,
  createGathering,
} from '../../daemon/worker/observations/gather.ts'
import { report, request } from '../support/observed.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const zeros = (length: number) => new Uint8Array(length)

void t.test(
  'the oldest lines go beyond the most, and are counted; counters never go',
  async (t) => {
    const dropped = { access_lines: 0, problems: 0 }
    const gathering = createGathering(zeros, dropped)
    for (let made = 0; made < MOST_LINES + 5; made += 1) {
      gathering.served(request('app_1', { at: NOON, path: `/${made}` }))
    }
    const batch = gathering.take()
    t.ok((batch?.lines.length ?? Infinity) <= MOST_LINES)
    t.equal((batch?.lines.length ?? 0) + dropped.access_lines, MOST_LINES + 5)
    t.equal(batch?.lines.at(-1)?.path, `/${MOST_LINES + 4}`)
    t.equal(batch?.usage.find(({ meter }) => meter === 'requests')?.amount, MOST_LINES + 5)
    t.equal(gathering.take(), undefined)
  },
)

void t.test('one app leaves room for the problems of others, and all have an end', async (t) => {
  const dropped = { access_lines: 0, problems: 0 }
  const gathering = createGathering(zeros, dropped)
  const tell = (app_id: string, message: string): void =>
    gathering.reported({ app_id, kind: 'published', deployment_id: null }, [report(message)], NOON)
  const word = (number: number): string =>
    String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')
  for (let made = 0; made <= MOST_PROBLEMS_OF_APP; made += 1) tell('loud', word(made))
  t.equal(dropped.problems, 1)
  tell('loud', word(0))
  t.equal(dropped.problems, 1, 'what is known counts on')
  for (let made = MOST_PROBLEMS_OF_APP; made <= MOST_PROBLEMS; made += 1) tell(`app_${made}`, 'x')
  t.equal(dropped.problems, 2)
  const batch = gathering.take()
  t.equal(batch?.problems.length, MOST_PROBLEMS)
  t.equal(batch?.problems.find(({ title }) => title === word(0))?.count, 2)
})

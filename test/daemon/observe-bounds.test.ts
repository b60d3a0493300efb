import t from 'tap'
import { createGathering } from '../../daemon/worker/observations/gather.ts'
import { MOST_LINES, MOST_LINES_OF_APP } from '../../daemon/worker/observations/lines.ts'
import {
  MOST_ERROR_GROUPS,
  MOST_ERROR_GROUPS_OF_APP,
} from '../../daemon/worker/observations/error-groups.ts'
import { report, request } from '../support/observed.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const zeros = (length: number) => new Uint8Array(length)

function gather() {
  const dropped = { access_lines: 0, problems: 0 }
  const gathering = createGathering(zeros, dropped)
  const serve = (app_id: string, paths: number): void => {
    for (let made = 0; made < paths; made += 1) {
      gathering.served(request(app_id, { at: NOON, path: `/${made}` }))
    }
  }
  const tell = (app_id: string, message: string): void =>
    gathering.reported(
      { app_id, kind: 'published', deployment_id: null },
      [report(message)],
      NOON,
      'net',
    )
  return { ...gathering, dropped, serve, tell }
}

/** One that no rule for numbers makes the same as another. */
const word = (number: number): string =>
  String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')

void t.test('of one app the oldest lines go, and are counted; counters never go', (t) => {
  const { take, dropped, serve } = gather()
  serve('loud', MOST_LINES_OF_APP * 3 + 5)
  serve('quiet', 2)
  const batch = take()
  const loud = batch?.lines.filter(({ app_id }) => app_id === 'loud') ?? []
  t.ok(loud.length <= MOST_LINES_OF_APP && loud.length > MOST_LINES_OF_APP / 2)
  t.equal(loud.length + dropped.access_lines, MOST_LINES_OF_APP * 3 + 5)
  const first = MOST_LINES_OF_APP * 3 + 5 - loud.length
  t.same(
    loud.map(({ path }) => path),
    loud.map((_, index) => `/${first + index}`),
    'the newest are kept, in their order',
  )
  t.same(
    batch?.lines.filter(({ app_id }) => app_id === 'quiet').map(({ path }) => path),
    ['/0', '/1'],
  )
  const requests = batch?.usage.filter(({ meter }) => meter === 'requests') ?? []
  t.same(
    requests.map(({ app_id, amount }) => [app_id, amount]),
    [
      ['loud', MOST_LINES_OF_APP * 3 + 5],
      ['quiet', 2],
    ],
  )
  t.equal(take(), undefined)
  t.end()
})

void t.test('when there is no room for lines the app with most gives it', (t) => {
  const { take, dropped, serve } = gather()
  serve('early', 3)
  for (let app = 0; app < MOST_LINES / MOST_LINES_OF_APP; app += 1) {
    serve(`loud_${app}`, MOST_LINES_OF_APP)
  }
  serve('late', 3)
  const lines = take()?.lines ?? []
  t.ok(lines.length <= MOST_LINES)
  t.equal(lines.length + dropped.access_lines, MOST_LINES + 6)
  for (const app of ['early', 'late']) {
    t.equal(lines.filter(({ app_id }) => app_id === app).length, 3, app)
  }
  serve('early', MOST_LINES_OF_APP)
  t.equal(take()?.lines.length, MOST_LINES_OF_APP, 'what was taken holds no room')
  t.end()
})

void t.test('of a path that led nowhere the beginning is kept', (t) => {
  const { served, take } = gather()
  const path = `/${'ä'.repeat(400)}`
  for (const status of [200, 399, 400, 404, 500]) {
    served(request('app_1', { at: NOON, path, status }))
  }
  served(request('app_1', { at: NOON, path: path.slice(0, 256), status: 404 }))
  const cut = `${path.slice(0, 255)}…`
  t.same(
    take()?.lines.map((line) => line.path),
    [path, path, cut, cut, cut, path.slice(0, 256)],
  )
  t.end()
})

void t.test('one app leaves room for the error groups of others, and all have an end', (t) => {
  const { take, dropped, tell } = gather()
  for (let made = 0; made <= MOST_ERROR_GROUPS_OF_APP; made += 1) tell('loud', word(made))
  t.equal(dropped.problems, 1)
  tell('loud', word(0))
  t.equal(dropped.problems, 1, 'what is known counts on')
  for (let made = MOST_ERROR_GROUPS_OF_APP; made < MOST_ERROR_GROUPS; made += 1)
    tell(`app_${made}`, 'x')
  t.equal(dropped.problems, 1)
  tell('late', 'x')
  tell('late', 'y')
  t.equal(dropped.problems, 3, 'what finds a place takes that of another')
  const { groups = [] } = take() ?? {}
  t.equal(groups.length, MOST_ERROR_GROUPS)
  const of = (app: string) => groups.filter(({ app_id }) => app_id === app)
  t.equal(of('late').length, 2)
  t.equal(of('loud').length, MOST_ERROR_GROUPS_OF_APP - 2)
  t.equal(of('loud').find(({ title }) => title === word(0))?.count, 2, 'the rarest went')
  for (let made = 0; made < MOST_ERROR_GROUPS; made += 1) tell(`app_${made}`, 'x')
  tell('late', 'x')
  t.equal(dropped.problems, 4, 'where all have one none gives it')
  t.equal(take()?.groups.length, MOST_ERROR_GROUPS)
  t.end()
})

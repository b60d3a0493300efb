import type { Test } from 'tap'
import t from 'tap'
import { openHosting } from '../support/hosting.ts'
import type { RawAnswer } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { CANARY, publishAll } from './rows/apps.ts'
import { CONDITION_ROWS } from './rows/conditions.ts'
import { ENCODING_ROWS } from './rows/encodings.ts'
import { FRAMING_ROWS } from './rows/framing.ts'
import { HOST_ROWS } from './rows/hosts.ts'
import { PATH_ROWS } from './rows/paths.ts'
import { RANGE_ROWS } from './rows/ranges.ts'
import type { Expected, Row } from './rows/row.ts'
import { get } from './rows/row.ts'

const ROWS: readonly Row[] = [
  ...HOST_ROWS,
  ...PATH_ROWS,
  ...CONDITION_ROWS,
  ...RANGE_ROWS,
  ...ENCODING_ROWS,
  ...FRAMING_ROWS,
]

const hosting = await openHosting(t)
await publishAll(hosting)

function judge(test: Test, answer: RawAnswer | undefined, expected: Expected): void {
  test.equal(answer?.status, expected.status)
  if (answer === undefined) return
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const given = answer.headers.get(name)
    if (value === null) test.equal(given, undefined, name)
    else if (typeof value === 'string') test.strictSame(given, [value], name)
    else test.match(given?.join('\n') ?? '', value, name)
  }
  const { body } = expected
  if (Buffer.isBuffer(body)) test.ok(answer.body.equals(body), 'body')
  else if (typeof body === 'string') test.equal(answer.body.toString(), body)
  else if (body !== undefined) test.match(answer.body.toString(), body)
  test.notOk(answer.headers.has('set-cookie'), 'no cookie is set')
  if (expected.curt === true) return
  test.strictSame(answer.headers.get('x-content-type-options'), ['nosniff'])
  test.match(answer.headers.get('x-request-id')?.join() ?? '', /^req_[0-9a-f]{24}$/)
}

async function run(test: Test, { send, answers, closes }: Row): Promise<void> {
  const connection = await openRaw(hosting.port)
  test.teardown(() => connection.destroy())
  connection.send(send)
  for (const expected of answers) {
    judge(test, await connection.answer(expected.head), expected)
  }
  if (closes !== true) {
    connection.send(get('/canary.txt'))
    const canary = await connection.answer()
    test.equal(canary?.body.toString(), CANARY, 'the connection goes on')
    return
  }
  test.equal((await connection.closed()).toString(), '', 'nothing else is answered')
}

for (const row of ROWS) await t.test(row.name, (test) => run(test, row))

await t.test('rows are told from each other, and nothing failed', async (t) => {
  const names = ROWS.map(({ name }) => name)
  t.strictSame(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  t.ok(ROWS.length >= 60)
  t.strictSame(hosting.failures, [])
})

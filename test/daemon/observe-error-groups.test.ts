import t from 'tap'
import { describeError } from '../../daemon/worker/observations/describe.ts'
import { beginningOf, redact } from '../../daemon/worker/observations/redact.ts'
import { report } from '../support/observed.ts'

void t.test('what may tell of a visitor is left out', async (t) => {
  const rows: readonly (readonly [given: string, kept: string])[] = [
    ['GET https://a.example/cart?user=7#me failed', 'GET https://a.example/cart failed'],
    ['at load (https://a.example/app.js?v=3:10:5)', 'at load (https://a.example/app.js:10:5)'],
    ['fetch("/api/items?token=abc&page=2") failed', 'fetch("/api/items") failed'],
    ['no account for Zoë.Zed+shop@mail.example.co.uk', 'no account for [email]'],
    ['card 4111 1111 1111 1111 refused', 'card [number] refused'],
    ['call +49 170 1234567', 'call +[number]'],
    ['order 12345678', 'order [number]'],
    ['Authorization: Bearer abcdefgh.ijkl-mno', 'Authorization: [token] [token]'],
    ['sent bearer AbCdEfGhIj', 'sent bearer [token]'],
    ['{"password":"hunter22"}', '{"password":"[token]"}'],
    ['api_key=s3cr3t-value rest', 'api_key=[token] rest'],
    ['eyJhbGciOi.eyJzdWIi.c2lnbmF0', '[token]'],
    ['of x-eyJhbGciOi.eyJzdWIi.c2lnbmF0 end', 'of x-[token] end'],
    ['its beginning eyJhbGciOi-eyJz end', 'its beginning [token] end'],
    [
      'load@http://a.example/b@http://c.example/d?e#f:1:2',
      'load@http://a.example/b@http://c.example/d:1:2',
    ],
    [`key service_dk_${'aB3'.repeat(16)} end`, 'key [token] end'],
    ['hash 0123456789abcdef0123456789abcdef', 'hash [token]'],
  ]
  for (const [given, kept] of rows) t.equal(redact(given), kept, given)
})

void t.test('what a developer needs stays', async (t) => {
  for (const text of [
    "TypeError: Cannot read properties of undefined (reading 'price')",
    'Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON',
    'Is it there? Maybe: a?b:c',
    'HTTP 404 after 1500 ms at 12:30:45',
    'at handleTheSubmitButtonOfTheForm (https://a.example/assets/app-4f9a8b7c.js:1:20345)',
    'ten-ways-to-improve-your-little-shop-in-2026',
    'Password required',
  ]) {
    t.equal(redact(text), text)
  }
})

void t.test('it takes no long while, whatever the text', async (t) => {
  const hostile = [
    '?a=',
    ':1',
    '@a.',
    '1 ',
    'password ',
    'eyJ',
    'a1A-',
    '\'"`',
    '((((',
    'https://',
    ':1:1',
    'at ',
  ]
  for (const part of hostile) {
    const text = part.repeat(40_000 / part.length)
    const begun = process.cpuUsage()
    describeError(report(text, { stack: `${text}\n${text}`, url: text }))
    const { user } = process.cpuUsage(begun)
    t.ok(user < 500_000, `${JSON.stringify(part)}: ${user} µs`)
  }
})

/** Read again from each of its words, this much would take many seconds. */
const LONG = 256 * 1024

void t.test('no word is read again from each place in it', (t) => {
  const timed = (name: string, read: () => string, expected: (text: string) => boolean): void => {
    const begun = process.cpuUsage()
    const left = read()
    const { user } = process.cpuUsage(begun)
    t.ok(expected(left), name)
    t.ok(user < 1_000_000, `${name}: ${user} µs`)
  }
  const filled = (part: string): string => part.repeat(LONG / part.length)
  timed(
    'tokens',
    () => redact(filled('eyJ-')),
    (left) => left === '[token]',
  )
  for (const part of [
    'http://',
    'https://a.example/',
    'bearer ',
    'token = ',
    'token \n',
    'a-',
    'A1-',
    '1 -',
  ]) {
    timed(
      part,
      () => redact(`${filled(part)} `),
      (left) => left.length <= 2 * LONG,
    )
  }
  const word = 'a'.repeat(LONG)
  timed(
    'a word',
    () => beginningOf(`${word} ${word}`, LONG + 2),
    (left) => left === `${word} `,
  )
  timed(
    'a last word',
    () => beginningOf(word, LONG - 1),
    (left) => left === '',
  )
  t.equal(beginningOf('two words', 5), 'two ')
  t.end()
})

const fingerprint = (message: string, stack: string | null = null): string =>
  describeError(report(message, { stack })).fingerprint

void t.test('occurrences of one error group have one fingerprint', async (t) => {
  const same = (a: string, b: string, of: string): void => {
    t.equal(fingerprint(a), fingerprint(b), of)
  }
  same('timeout after 1503 ms', 'timeout after 7 ms', 'numbers')
  same('no "cart" here', 'no "wish list" here', 'what is quoted')
  same('at 0x7ffe12', 'at 0x1', 'hex')
  same('commit 4f9a8b7c', 'commit 00aa11bb', 'hex without a mark')
  same(
    'item 01890a5d-ac96-774b-bcce-b302099a8057',
    'item 11890a5d-ac96-474b-bcce-b302099a8058',
    'identifiers',
  )
  const stack = (line: number, mark: string, host: string, below: string): string =>
    `TypeError: x\n    at total (${host}/assets/cart-${mark}.js:${line}:7)\n` +
    `    at async draw (${host}/app.js:${line}:1)\n    at ${host}/app.js:9:${line}\n    at ${below} (${host}/x.js:1:1)`
  t.equal(
    fingerprint('x', stack(4, 'DkX3a9_B', 'https://a.example', 'one')),
    fingerprint('x', stack(90, 'f00dbabe1', 'https://b.example', 'other')),
    'another build, host and caller',
  )
  t.equal(
    fingerprint('x', 'total@https://a.example/cart.js:4:7\n@https://a.example/app.js:1:1'),
    fingerprint('x', 'total@https://a.example/cart.js:8:1\n@https://a.example/app.js:2:2'),
    'as other browsers print it',
  )
})

void t.test('different error groups have different ones', async (t) => {
  const all = [
    fingerprint('x is undefined'),
    fingerprint('y is undefined'),
    fingerprint('x is undefined', 'at a (https://a.example/a.js:1:1)'),
    fingerprint('x is undefined', 'at b (https://a.example/a.js:1:1)'),
    fingerprint('x is undefined', 'at a (https://a.example/my-shop.js:1:1)'),
    describeError(report('x is undefined', { type: 'console' })).fingerprint,
  ]
  t.equal(new Set(all).size, all.length)
  t.match(all[0], /^[0-9a-f]{64}$/)
})

void t.test('title and culprit say what and where', async (t) => {
  const stack = 'Error: no\n    at total (https://a.example/js/cart.js?v=1:4:7)'
  t.match(describeError(report('no\nmore of it', { stack })), {
    type: 'error',
    title: 'no',
    culprit: 'total (/js/cart.js)',
    sample: { message: 'no\nmore of it', url: 'https://shop.example.net/cart' },
  })
  t.match(describeError(report('', { type: 'csp' })), { title: 'csp', culprit: '/cart' })
  const anonymous = 'at https://a.example/npm/vue@3.2/vue.js:1:2'
  t.equal(describeError(report('x', { stack: anonymous })).culprit, '/npm/vue@3.2/vue.js')
  const long = describeError(report('word '.repeat(4000)))
  t.equal(long.title.length, 200)
  t.equal(long.sample.message.length, 1000)
  // What is looked at ends within the address, which nobody would know as one.
  const padded = `token=${'x'.repeat(8192 - 'token= zoe@exam'.length)} zoe@example.com`
  t.equal(describeError(report(padded)).title, 'token=[token] ')
})

import fc from 'fast-check'
import t from 'tap'
import { allowsBeacon } from '../../daemon/hosting/beacon/policy.ts'
import { SCANNED_BYTES, scanPage } from '../../daemon/hosting/beacon/scan.ts'

const TAG = '<script src="/_p/obs.js"></script>'

/** What is put into a page, and where; undefined for one that gets nothing. */
function placeIn(page: Buffer, pieces: number): ReturnType<ReturnType<typeof scanPage>['end']> {
  const scan = scanPage({ isSecure: true })
  for (let at = 0; at < page.length && !scan.isDone; at += pieces) {
    scan.write(page.subarray(at, at + pieces))
  }
  return scan.end()
}

/** A page with what is put into it; the same page for one that gets nothing. */
function carried(page: Buffer, pieces: number = page.length): Buffer {
  const place = placeIn(page, pieces)
  if (place === undefined) return page
  return Buffer.concat([page.subarray(0, place.at), place.tag, page.subarray(place.at)])
}

const csp = (policy: string): string =>
  `<meta http-equiv="Content-Security-Policy" content="${policy}">`

/** `|` marks where the beacon goes; without one there is none. */
const PAGES: readonly (readonly [what: string, page: string])[] = [
  ['a head', '<!doctype html><html><head>|<title>x</title></head><body>x'],
  ['a head in capitals, with attributes', '<!DOCTYPE HTML><HTML><HEAD data-a="1>2">|<META><BODY>'],
  ['a head that is left out', '<!doctype html>|<title>x</title><h1>x</h1>'],
  ['nothing but a body', '<!doctype html>|<body><p>x'],
  ['a text alone', '<!doctype html>|Hello'],
  ['a page of nothing', '<!doctype html>|'],
  [
    'comments and blanks first',
    '\n<!-- a <head> --><!doctype html>\n<!-- <head> --><html>\n|<title>x',
  ],
  ['a conditional comment', '<!doctype html><!--[if IE]><head><![endif]--><html><head>|<title>'],
  ['a declaration of XML', '<?xml version="1.0"?><!doctype html><html><head>|<title>x'],
  ['a head within a script', '<!doctype html>|<script>"<head>"</script><title>x</title>'],
  ['a head within a style', '<html>|<style>/*<head>*/</style><head><title>x'],
  ['a head in a title', '<!doctype html><head>|<title><head></title>'],
  ['a script of its own first', '<!doctype html><head>|<script>fails()</script>'],
  ['frames', '<html><head>|<title>x</title></head><frameset cols="*"><frame src="a.html">'],
  ['a policy that allows it', `<!doctype html><head>${csp("default-src 'self'")}|<title>x`],
  ['a second one', `<head>${csp("script-src 'self'")}<link>${csp("connect-src 'self'")}|<link>`],
  [
    'a policy in the body, which is none',
    `<!doctype html><head>|</head><body>${csp("default-src 'none'")}`,
  ],
  ['a policy behind a script', `<head><script>a</script>${csp("default-src 'self'")}|<title>`],
  [
    'a policy in a noscript',
    `<!doctype html><head>|<noscript>${csp("default-src 'none'")}</noscript>`,
  ],
  ['a policy in a template', `<head>|<template>${csp("default-src 'none'")}</template><title>`],
  ['a policy in a comment', `<head>|<!-- ${csp("default-src 'none'")} --><title>`],
  ['a policy that only reports', `<head>|<meta http-equiv="Content-Security-Policy-Report-Only">`],
  ['a policy with entities', `<head>${csp('default-src &#39;self&#39;')}|<title>x`],
  ['a base of its own', `<head><base href="/app/">${csp("default-src 'self'")}|<title>`],
  ['a base elsewhere', '<head>|<base href="https://cdn.example/"><title>x'],
  [
    'a base elsewhere before the policy',
    `<head><base href="//cdn.example/">${csp('default-src *')}`,
  ],
  ['a policy that forbids scripts', `<!doctype html><head>${csp("default-src 'none'")}<title>x`],
  ['a policy of nonces', `<head>${csp("script-src 'nonce-a' 'strict-dynamic' 'self'")}<title>x`],
  ['a policy that forbids to send', `<head>${csp("script-src 'self'; connect-src 'none'")}<title>`],
  ['one of two that forbids it', `<head>${csp("default-src 'self'")}${csp("script-src 'none'")}`],
  ['a page that loads it', `<!doctype html><head><meta>${TAG}<script>a</script>`],
]

/** The same for what may be a part of a page. */
const FRAGMENTS: typeof PAGES = [
  ['a fragment', '|<li>One</li><li>Two</li>'],
  ['a fragment of a text', '|Hello'],
  ['a fragment of nothing', '|'],
  ['a fragment behind blanks', '\n|<h1>x</h1>'],
  ['a fragment with a script', '|<script>a()</script><p>x'],
  ['a fragment with a policy that allows it', `${csp("default-src 'self'")}|<p>x`],
  ['a fragment with a policy that forbids scripts', `${csp("script-src 'none'")}<p>x`],
  ['a picture', '|<svg xmlns="http://www.w3.org/2000/svg"><title>x</title></svg>'],
]

for (const [what, page] of [...PAGES, ...FRAGMENTS]) {
  await t.test(`the beacon and ${what}`, async (t) => {
    const given = page.replace('|', '')
    const expected = page.replace('|', TAG)
    t.equal(carried(Buffer.from(given)).toString(), expected)
    t.equal(carried(Buffer.from(`\ufeff${given}`)).toString(), `\ufeff${expected}`, 'with a mark')
    for (const order of ['le', 'be'] as const) {
      const encode = (text: string): Buffer => {
        const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
        return order === 'le' ? bytes : bytes.swap16()
      }
      t.strictSame(carried(encode(given)), encode(expected), `in UTF-16 ${order}`)
      t.strictSame(carried(encode(given), 3), encode(expected), `in pieces`)
    }
    for (const pieces of [1, 2, 7]) {
      t.equal(carried(Buffer.from(given), pieces).toString(), expected, `${pieces} at a time`)
    }
  })
}

await t.test('a fragment is told from a page', async (t) => {
  for (const [table, isFragment] of [
    [PAGES, false],
    [FRAGMENTS, true],
  ] as const) {
    for (const [what, page] of table) {
      const given = Buffer.from(page.replace('|', ''))
      const place = placeIn(given, given.length)
      if (place !== undefined) t.equal(place.isFragment, isFragment, what)
    }
  }
})

const filled = (page: string, by = 'x'): Buffer =>
  Buffer.from(page.replace('…', by.repeat(Math.ceil(SCANNED_BYTES / by.length))))

/** What goes on beyond what is scanned; `|` marks where the beacon goes. */
const LONG: readonly (readonly [what: string, page: string, by?: string])[] = [
  ['a comment first', '<!doctype html><!-- … --><head><title>x</title>'],
  ['blanks first', '<!doctype html>…<head><title>x</title>', ' '],
  ['a tag that does not end', '<!doctype html><html data-a="…"><head>'],
  ['a style in the head', '<!doctype html><head>|<style>…</style><title>x'],
  ['a comment in the head', '<!doctype html><head>|<!-- …'],
  ['a policy behind what is scanned', `<head>|<script>…</script>${csp("script-src 'none'")}`],
  ['a policy before that', `<head>${csp("script-src 'none'")}<script>…</script>`],
  ['a body', '<!doctype html><head>|</head><body>…'],
  ['templates within each other', '<!doctype html>|…', '<template>'],
]

for (const [what, page, by] of LONG) {
  await t.test(`the beginning of a page is scanned: ${what}`, async (t) => {
    const given = filled(page.replace('|', ''), by)
    const expected = filled(page.replace('|', TAG), by)
    for (const pieces of [given.length, 65_536, 1009]) {
      t.ok(carried(given, pieces).equals(expected), `${pieces} at a time`)
    }
  })
}

await t.test('a place is found up to the last byte that is scanned', async (t) => {
  const start = '<!doctype html><!--'
  const page = (size: number): Buffer =>
    Buffer.from(`${start}${'x'.repeat(size - start.length - '--><head>'.length)}--><head>`)
  const body = Buffer.from('<body>')
  for (const [size, has] of [
    [SCANNED_BYTES, true],
    [SCANNED_BYTES + 1, false],
  ] as const) {
    const given = Buffer.concat([page(size), body])
    const expected = has ? Buffer.concat([page(size), Buffer.from(TAG), body]) : given
    t.ok(carried(given).equals(expected), `${size}`)
  }
})

await t.test('bytes that are no text stay as they are', async (t) => {
  const page = Buffer.concat([Buffer.from('<!doctype html><title>'), Buffer.from([0xff, 0, 0xe4])])
  const at = '<!doctype html>'.length
  t.strictSame(
    carried(page),
    Buffer.concat([page.subarray(0, at), Buffer.from(TAG), page.subarray(at)]),
  )
})

await t.test('whatever a page is, it comes in any pieces and keeps all of its bytes', async () => {
  const part = fc.constantFrom(
    '<!doctype html>',
    '<html>',
    '<head>',
    '</head>',
    '<body>',
    '<title>',
    '</title>',
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '<meta ',
    'content="',
    '"',
    '>',
    '<',
    ' ',
    'ä',
    '\ufeff',
    csp("default-src 'self'"),
    csp("script-src 'none'"),
    '<template>',
    '</template>',
    '<p>',
  )
  const pages = fc.array(part, { maxLength: 30 }).map((parts) => Buffer.from(parts.join('')))
  fc.assert(
    fc.property(pages, fc.integer({ min: 1, max: 9 }), (page, pieces) => {
      const whole = carried(page)
      if (!whole.equals(carried(page, pieces))) return false
      const text = whole.toString('latin1')
      const at = page.length === whole.length ? -1 : text.indexOf(TAG)
      const left = at < 0 ? text : text.slice(0, at) + text.slice(at + TAG.length)
      return left === page.toString('latin1')
    }),
    { numRuns: 2000 },
  )
})

const POLICIES: readonly (readonly [policy: string, byHttp: boolean, byHttps?: boolean])[] = [
  ['', true],
  ["img-src 'none'", true],
  ["default-src 'self'", true],
  ["DEFAULT-SRC 'SELF'", true],
  ["default-src 'self'; default-src 'none'", true],
  ["default-src 'none'; script-src 'self'; connect-src 'self'", true],
  ["script-src-elem 'self'; script-src 'none'", true],
  ['default-src *', true],
  ['default-src http:', true],
  ["script-src https: 'unsafe-inline'", false, true],
  ["script-src-elem 'none'; script-src 'self'", false],
  ["default-src 'none'", false],
  ['default-src', false],
  ["script-src 'unsafe-inline'", false],
  ["script-src 'nonce-abc'", false],
  ["script-src 'self' 'strict-dynamic'", false],
  ['script-src shop.example', false],
  ["script-src 'self'; connect-src api.example", false],
]

await t.test('a policy is taken to forbid what it may forbid', async (t) => {
  for (const [policy, byHttp, byHttps = byHttp] of POLICIES) {
    t.equal(allowsBeacon(policy, false), byHttp, policy)
    t.equal(allowsBeacon(policy, true), byHttps, `${policy} (https)`)
  }
})

import type { Test } from 'tap'
import { MAX_NEW_OF_REPORTER } from '../../../plugins/platform/contract/error-groups.ts'
import { parseBlocks } from '../../../daemon/config/values.ts'
import { createApp } from '../../support/edits.ts'
import { html } from '../../support/hosted-apps.ts'
import { openHosting } from '../../support/hosting.ts'
import { observe, observedWorld } from '../../support/observed.ts'
import { openRaw } from '../../support/raw-http.ts'
import { ask } from '../../hosting/rows/row.ts'
import type { Checks } from '../run.ts'

const HOST = 'shop.localhost'

/** An app that is served behind a proxy, so that visitors come from any network, and its errors. */
async function openApp(t: Test) {
  const world = await observedWorld(t)
  const { id } = await createApp(world)
  const { observer, flush, stop } = observe(world)
  t.teardown(stop)
  const hosting = await openHosting(t, { observer, trustedProxies: parseBlocks('127.0.0.1') })
  await hosting.publish(HOST, { app_id: id, tree: { 'index.html': html('shop') } })
  return {
    flush,
    async report(from: string, messages: readonly string[]): Promise<number | undefined> {
      const reports = messages.map((message) => ({
        type: 'error',
        message,
        stack: null,
        url: `http://${HOST}/`,
      }))
      const body = JSON.stringify({ reports })
      const connection = await openRaw(hosting.port)
      const head = {
        Host: HOST,
        'Sec-Fetch-Site': 'same-origin',
        'X-Forwarded-For': from,
        'Content-Type': 'text/plain',
        'Content-Length': String(Buffer.byteLength(body)),
      }
      connection.send(ask('POST', '/_p/beacon', head, body))
      const answer = await connection.answer()
      connection.destroy()
      return answer?.status
    },
    async titles(): Promise<readonly string[]> {
      const path = `/v1/apps/${id}/errors?limit=100`
      const { body } = await world.request<{ data: { title: string }[] }>('GET', path)
      return body.data.map(({ title }) => title)
    },
  }
}

/** Letters alone: messages that differ in numbers are one error. */
const word = (number: number): string =>
  String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')

const invented = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `invented ${word(from + at)}`)

/** What one network may send within a minute: 30 requests of 20 reports. */
async function flood(report: (from: string, messages: readonly string[]) => unknown, from: string) {
  for (let at = 0; at < 30; at++) await report(from, invented(20 * at, 20))
}

export const REPORT_CHECKS: Checks = {
  async H03(t, saw) {
    const { report, flush, titles } = await openApp(t)
    await flood(report, '192.0.2.1')
    saw(String(await report('198.51.100.7', ['the cart is broken'])))
    t.equal(await flush(), true)
    const noise = (await titles()).filter((title) => title.startsWith('invented'))
    t.equal(noise.length, MAX_NEW_OF_REPORTER)
    t.ok((await titles()).includes('the cart is broken'))
  },

  async H04(t, saw) {
    const { report, flush, titles } = await openApp(t)
    // The attacker is the first to report it, among what it invents, from many addresses of one /64.
    await report('2001:db8::1', [...invented(0, 19), 'the cart is broken'])
    for (let at = 1; at < 30; at++) {
      await report(`2001:db8::${at.toString(16)}`, invented(20 * at, 20))
    }
    saw(String(await report('2001:db8:0:1::1', ['the cart is broken'])))
    t.equal(await flush(), true)
    const noise = (await titles()).filter((title) => title.startsWith('invented'))
    t.equal(noise.length, MAX_NEW_OF_REPORTER)
    t.ok((await titles()).includes('the cart is broken'))
  },
}

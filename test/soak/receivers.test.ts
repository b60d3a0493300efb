import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { Replacements } from '../support/page.ts'
import { blocksFor, blocksOf, openShell, settingsOf, walk } from '../support/page.ts'
import type { Delivery, Form } from '../support/receivers/deliveries.ts'
import {
  DELIVERIES,
  OLD_SECRET,
  SECRET,
  bodyOf,
  isTaken,
  sign,
} from '../support/receivers/deliveries.ts'
import { LANGUAGES } from '../support/receivers/languages.ts'
import type { ReceiverOfPage } from '../support/receivers/page.ts'
import { receiversOf, writeFilesOf } from '../support/receivers/page.ts'
import type { ReceiverProcess } from '../support/receivers/process.ts'
import { failureOf, run, serve, versionOf } from '../support/receivers/process.ts'
import { openHalfSent, send } from '../support/receivers/send.ts'
import { sized } from '../support/soak.ts'
import type { SignatureCase } from '../vectors/signature.ts'
import { SIGNATURE_CASES } from '../vectors/signature.ts'
import { freePort } from '../support/free-port.ts'

const SHORT_SECRET = 'whsec_short'
const HALF_SENT = 64
/** Of those that give up on a request that does not arrive, the one that hung without; in the longest form all. */
const ENDS_HALF_SENT = sized(
  ['httpserver'],
  ['httpserver'],
  ['httpserver', 'http', 'express', 'http.server', 'net/http', 'gin', 'spring'],
)

t.setTimeout(sized(15, 24, 40) * MINUTE)

const cases = SIGNATURE_CASES.filter(({ form }) => form === 'service')
const expected = cases.map(({ id, valid }) => `${id}\t${valid}`)

const ran: string[] = []

const base64 = (content: Uint8Array | string): string => Buffer.from(content).toString('base64')

/** One line a case, since not every language reads JSON. A header sent twice arrives joined. */
function lineOf({ id, secrets, body, headers, now }: SignatureCase): string {
  const header = headers['Service-Signature']
  const joined = typeof header === 'string' ? header : header?.join(', ')
  const headerField = joined === undefined ? '-' : base64(joined)
  return [id, secrets.map(base64).join(','), base64(body), headerField, now].join('\t')
}

/** What is not run is said, and is a failure in CI, whose machines have it. */
function skip(what: string): void {
  t.comment(`${what}: not run`)
  t.not(process.env['CI'], 'true', `a machine of CI has what it needs: ${what}`)
}

for (const language of LANGUAGES) {
  const { name, page, version, installs, builds, judge } = language
  const installed = versionOf(version)
  if (installed === undefined) {
    skip(`${name} is not installed, or too old`)
    continue
  }
  ran.push(name)
  await t.test(`${name} (${installed})`, async (t) => {
    const port = await freePort()
    const folder = t.testdir({})
    writeFilesOf(page, port, folder)
    const ready: ReceiverOfPage[] = []
    for (const receiver of receiversOf(page, port)) {
      const failure = installs ? await failureOf(receiver.install, folder) : undefined
      if (failure !== undefined) skip(`${name}, ${receiver.name}: ${failure}`)
      else {
        t.equal(await failureOf(receiver.build, folder), undefined, `${receiver.name} is built`)
        ready.push(receiver)
      }
    }
    for (const build of builds) await run(build, folder)

    if (ready.length > 0) {
      await t.test(`its verifier judges ${cases.length} published vectors as we do`, async (t) => {
        const verdicts = await run(judge, folder, cases.map(lineOf).join('\n'))
        t.strictSame(verdicts.trim().split('\n'), expected)
      })
    }
    const served = Object.entries(language.serves ?? {}).map(([title, run]) => ({
      name: title,
      run,
    }))
    for (const { name: title, run: command } of [...ready, ...served]) {
      const form = language.standard?.includes(title) === true ? 'standard' : 'service'
      const start = (secrets: readonly string[]) => serve(command, folder, port, secrets)
      await t.test(`its receiver takes what is signed, and nothing else: ${title}`, async (t) => {
        await checkReceiver(t, { start, form, port, title })
      })
      await t.test(
        `its receiver takes nothing without a secret of its form: ${title}`,
        async (t) => {
          const check =
            language.perRequest?.includes(title) === true ? checkRefusesAll : checkRefusesToStart
          for (const secrets of [[''], [SECRET, ''], [SECRET, SHORT_SECRET]]) {
            await check(t, () => start(secrets), port)
          }
        },
      )
    }
  })
}

/** What the page says to change in a receiver of Node and of Python, by brand. */
const BRANDS: Readonly<Record<string, Replacements>> = {
  service: {},
  shop: {
    'request.headers, secrets)': "request.headers, secrets, { signatureHeader: 'Shop-Signature' })",
    'SIGNATURE_HEADER = "Service-Signature"': 'SIGNATURE_HEADER = "Shop-Signature"',
  },
}

for (const [brand, changes] of Object.entries(BRANDS).slice(0, sized(1, 1, undefined))) {
  await t.test(`the page leads from nothing to a delivery with the brand ${brand}`, async (t) => {
    const python = ran.includes('Python')
    const [port, receiver] = [await freePort(), await freePort()]
    const replacements = { 8080: receiver, ...changes }
    const blocks = blocksOf('receivers.md', replacements)
    const shown = ['receivers/node.md', 'receivers/python.md'].flatMap((page) =>
      blocksOf(page, replacements),
    )
    const files = shown.flatMap(({ kind, text }) => {
      const [, name] = /^\w+ (\S+\.\w+)$/.exec(kind) ?? []
      return name === undefined ? [] : [[name, text] as const]
    })
    const folder = t.testdir(Object.fromEntries(files))
    const env = {
      KEYHOOK_DATA_DIR: join(folder, 'data'),
      KEYHOOK_PORT: String(port),
      KEYHOOK_BRAND: brand,
    }
    const command = blocks.find(({ kind }) => kind === 'sh daemon')?.text ?? ''
    const daemon = await startDaemonProcess({ ...settingsOf(command), ...env })
    const shell = openShell(folder, {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...env,
    })
    t.teardown(async () => {
      await shell.close()
      await daemon.end('SIGTERM')
    })
    await walk(t, blocksFor(blocks, python ? ['python'] : []), shell)
  })
}

await t.test('Node and at least one other language ran', async (t) => {
  t.ok(ran.includes('Node'))
  t.ok(ran.length > 1)
})

type Start = () => Promise<ReceiverProcess>

async function checkRefusesToStart(t: Test, start: Start): Promise<void> {
  await t.rejects(
    start().then((receiver) => receiver.end()),
    /ended with [1-9][^]*WEBHOOK_SECRETS must be/,
  )
}

async function checkRefusesAll(t: Test, start: Start, port: number): Promise<void> {
  const receiver = await start()
  const body = bodyOf({ id: 'evt_1', answers: [] })
  t.equal(await send(port, body, sign('service', body)), 500)
  await until('it says why', () => receiver.printed().includes('WEBHOOK_SECRETS must be'))
  await receiver.end()
}

interface Stage {
  readonly title: string
  readonly form: Form
  readonly port: number
  start(secrets: readonly string[]): Promise<ReceiverProcess>
}

async function checkReceiver(t: Test, { start, form, port, title }: Stage): Promise<void> {
  const receiver = await start([OLD_SECRET, SECRET])
  const halfSent = await openHalfSent(port, HALF_SENT)
  t.teardown(async () => {
    halfSent.close()
    await receiver.end()
  })
  for (const delivery of DELIVERIES) {
    const body = bodyOf(delivery)
    const headers = delivery.headers?.(form, body) ?? sign(form, body)
    const answer = await send(port, body, headers)
    t.ok(delivery.answers.includes(answer), `${delivery.id}: ${answer}`)
  }
  const idsOf = (list: readonly Delivery[]) => list.map(({ id }) => id)
  const printed = ({ id }: Delivery) => receiver.printed().includes(`${id} order.paid`)
  const taken = DELIVERIES.filter(isTaken)
  await until('what is taken is printed', () => taken.every(printed))
  t.same(idsOf(DELIVERIES.filter(printed)), idsOf(taken), 'nothing else is taken')
  if (ENDS_HALF_SENT.includes(title)) await halfSent.ended
}

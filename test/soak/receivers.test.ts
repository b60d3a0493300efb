import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { serializeEvent } from '../../lib/webhook/event.ts'
import { signatureHeader } from '../../lib/webhook/sign.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { Replacements } from '../support/page.ts'
import { blocksFor, blocksOf, openShell, settingsOf, walk } from '../support/page.ts'
import type { Command } from '../support/receivers/languages.ts'
import { LANGUAGES } from '../support/receivers/languages.ts'
import { filesOfPages } from '../support/receivers/page.ts'
import type { ReceiverProcess } from '../support/receivers/process.ts'
import { run, send, serve, versionOf } from '../support/receivers/process.ts'
import { sized } from '../support/soak.ts'
import type { SignatureCase } from '../vectors/signature.ts'
import { SIGNATURE_CASES } from '../vectors/signature.ts'
import { freePort } from '../support/free-port.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OLD_SECRET = `whsec_${'A'.repeat(32)}`
const LONGEST_BODY = 262_144

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

interface Delivery {
  readonly id: string
  readonly answers: readonly (number | 'closed')[]
  /** Bytes of the body; default those of a short event. */
  readonly length?: number
  readonly header?: (body: Uint8Array, now: number) => string
}

const TAKEN = [204]
const REFUSED = [400]

/** What the vectors cannot show: raw bytes, the clock, the header's name, the limit of the body. */
const DELIVERIES: readonly Delivery[] = [
  { id: 'evt_unsigned', answers: REFUSED },
  {
    id: 'evt_changed',
    answers: REFUSED,
    header: (body, now) => signatureHeader(now, body.with(-3, 0), [SECRET]),
  },
  {
    id: 'evt_stale',
    answers: REFUSED,
    header: (body, now) => signatureHeader(now - 600, body, [SECRET]),
  },
  {
    id: 'evt_too_long',
    answers: [413, 500, 'closed'],
    length: LONGEST_BODY + 1,
    header: (body, now) => signatureHeader(now, body, [SECRET]),
  },
  {
    id: 'evt_longest',
    answers: TAKEN,
    length: LONGEST_BODY,
    header: (body, now) => signatureHeader(now, body, [SECRET]),
  },
  {
    id: 'evt_by_the_old_secret',
    answers: TAKEN,
    header: (body, now) => signatureHeader(now, body, [OLD_SECRET]),
  },
  {
    id: 'evt_by_both_secrets',
    answers: TAKEN,
    header: (body, now) => signatureHeader(now, body, [SECRET, OLD_SECRET]),
  },
]

function bodyOf({ id, length }: Delivery): Uint8Array {
  const withNote = (note: string) =>
    serializeEvent({ id, type: 'order.paid', created_at: Date.now(), data: { note } })
  const short = withNote('Grüße, 世界 🎉')
  return length === undefined ? short : withNote('x'.repeat(length - withNote('').length))
}

for (const { name, version, builds, judge, perRequest = [], receivers } of LANGUAGES) {
  const installed = versionOf(version)
  if (installed === undefined) {
    t.comment(`${name} is not installed, or too old: nothing of it was run`)
    continue
  }
  ran.push(name)
  await t.test(`${name} (${installed})`, async (t) => {
    const port = await freePort()
    const folder = t.testdir(filesOfPages(port))
    for (const build of builds) await run(build, folder)

    await t.test(`its verifier judges ${cases.length} published vectors as we do`, async (t) => {
      const verdicts = await run(judge, folder, cases.map(lineOf).join('\n'))
      t.strictSame(verdicts.trim().split('\n'), expected)
    })
    for (const [title, command] of Object.entries(receivers(port))) {
      await t.test(`its receiver takes what is signed, and nothing else: ${title}`, async (t) => {
        await checkReceiver(t, command, folder, port)
      })
      await t.test(
        `its receiver takes nothing without a secret of its form: ${title}`,
        async (t) => {
          const check = perRequest.includes(title) ? checkRefusesAll : checkRefusesToStart
          for (const secrets of [[''], [SECRET, ''], [SECRET, 'whsec_short']]) {
            await check(t, () => serve(command, folder, port, secrets), port)
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

for (const [brand, changes] of Object.entries(BRANDS).slice(0, sized(1, undefined))) {
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
  const header = signatureHeader(Math.floor(Date.now() / 1000), body, [SECRET])
  t.equal(await send(port, body, { 'Service-Signature': header }), 500)
  await until('it says why', () => receiver.printed().includes('WEBHOOK_SECRETS must be'))
  await receiver.end()
}

async function checkReceiver(
  t: Test,
  command: Command,
  folder: string,
  port: number,
): Promise<void> {
  const receiver = await serve(command, folder, port, [OLD_SECRET, SECRET])
  t.teardown(() => receiver.end())
  for (const delivery of DELIVERIES) {
    const body = bodyOf(delivery)
    const header = delivery.header?.(body, Math.floor(Date.now() / 1000))
    const headers = header === undefined ? {} : { 'Service-Signature': header }
    const answer = await send(port, body, headers)
    t.ok(delivery.answers.includes(answer), `${delivery.id}: ${answer}`)
  }
  const idsOf = (list: readonly Delivery[]) => list.map(({ id }) => id)
  const printed = ({ id }: Delivery) => receiver.printed().includes(id)
  const taken = DELIVERIES.filter(({ answers }) => answers === TAKEN)
  await until('what is taken is printed', () => taken.every(printed))
  t.same(idsOf(DELIVERIES.filter(printed)), idsOf(taken), 'nothing else is taken')
}

import { Agent } from 'node:http'
import { rest } from '../../fleet/steady.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Address } from './ask.ts'
import { ask } from './ask.ts'
import type { Held } from './body.ts'
import type { Judge } from './judge.ts'
import type { Asked } from './judgings.ts'
import { CHANGING, EVERY_SECOND, FILM, fingerprintedOf } from './releases.ts'

export interface VisitorOptions {
  /** Where the app is served, by each daemon. */
  readonly addresses: readonly [Address, ...Address[]]
  readonly judge: Judge
  readonly random: SeededRandom
  /** The longest rest between two things that it does. */
  readonly rest: number
  readonly isStopped: () => boolean
}

/** What browsers and others accept; the first is of who names nothing. */
const ENCODINGS = ['identity', 'gzip', 'br', 'gzip, br'] as const
const SOCKETS = 4
/** Open tabs, and what is remembered of what was held before. */
const TABS = 8
const REMEMBERED = 40
const MOST_OF_A_PART = 4000

/** What is to be asked for, but for how. */
type Wanted = Pick<Asked, 'file' | 'of'>

/**
 * Loads pages and what they name, as browsers do, until it is stopped: with what it holds, or not, all of
 * a file or a part, also for tabs that have been open for a while.
 */
export async function visit(options: VisitorOptions): Promise<void> {
  const { addresses, judge, random, isStopped } = options
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  /** By file and encoding. */
  const cache = new Map<string, Held>()
  const before: { readonly key: string; readonly held: Held }[] = []
  const tabs: number[] = []

  async function put(asked: Asked): Promise<Held | undefined> {
    try {
      const answer = await ask(agent, random.pick(addresses), asked)
      const kept = judge.judge(asked, answer)
      return answer.status === 304 ? asked.held : kept
    } catch (cause) {
      judge.broke(asked, cause)
      return undefined
    }
  }

  function remember(key: string, held: Held): void {
    const known = cache.get(key)
    cache.set(key, held)
    if (known === undefined || known.etag === held.etag) return
    before.push({ key, held: known })
    if (before.length > REMEMBERED) before.shift()
  }

  /** What it holds, or once in a while what it held long ago. */
  function heldOf(key: string): Held | undefined {
    const olds = random.oneIn(5) ? before.filter((one) => one.key === key) : []
    return random.pickAny(olds)?.held ?? (random.oneIn(3) ? undefined : cache.get(key))
  }

  async function load({ file, of }: Wanted): Promise<Held | undefined> {
    const encoding = random.pick(ENCODINGS)
    const key = `${encoding} ${file}`
    const held = heldOf(key)
    const kept = await put({
      method: 'GET',
      path: pathOf(file),
      headers: {
        ...(encoding === 'identity' ? {} : { 'accept-encoding': encoding }),
        ...(held && { 'if-none-match': held.etag }),
      },
      file,
      of,
      ...(held && { held }),
    })
    if (kept !== undefined && of === undefined) remember(key, kept)
    return kept
  }

  /** A page, and then what it names. */
  async function openPage(): Promise<void> {
    const page = await load({ file: 'index.html', of: undefined })
    if (page === undefined) return
    tabs.push(page.number)
    if (tabs.length > TABS) tabs.shift()
    await Promise.all([
      ...fingerprintedOf(page.number).map((file) => load({ file, of: page.number })),
      ...['site.js', 'site.css'].map((file) => load({ file, of: undefined })),
    ])
  }

  /** What a page that was opened a while ago loads only now. */
  async function goOnInTab(): Promise<void> {
    const of = random.pickAny(tabs)
    if (of === undefined) return
    const file = random.pickAny(fingerprintedOf(of)) ?? ''
    await load({ file, of })
  }

  async function askForPart(): Promise<void> {
    const file = random.oneIn(2) ? FILM : 'site.js'
    const held = random.oneIn(3) ? undefined : heldOf(`identity ${file}`)
    const start = random.below(1000)
    const end = start + 1 + random.below(file === FILM ? MOST_OF_A_PART : 500)
    const headers = {
      range: `bytes=${start}-${end - 1}`,
      ...(held && { 'if-range': held.etag }),
    }
    const part = { start, end, held }
    await put({ method: 'GET', path: pathOf(file), headers, file, of: undefined, part })
  }

  async function askForHead(): Promise<void> {
    const file = random.pick(CHANGING)
    await put({ method: 'HEAD', path: pathOf(file), headers: {}, file, of: undefined })
  }

  const DOINGS = [
    openPage,
    openPage,
    goOnInTab,
    goOnInTab,
    askForPart,
    askForHead,
    () => load({ file: FILM, of: undefined }),
    () => load({ file: EVERY_SECOND, of: undefined }),
    () => load({ file: 'nothing/here.css', of: undefined }),
  ] as const

  while (!isStopped()) {
    await random.pick(DOINGS)()
    if (options.rest > 0) await rest(random.below(options.rest))
  }
  agent.destroy()
}

const pathOf = (file: string): string => (file === 'index.html' ? '/' : `/${file}`)

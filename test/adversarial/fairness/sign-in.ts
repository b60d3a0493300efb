import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { Test } from 'tap'
import { createAccountsFamily } from '../../../daemon/families/accounts/family.ts'
import type { Passwords, ScryptCost } from '../../../daemon/families/accounts/password.ts'
import { createPasswords } from '../../../daemon/families/accounts/password.ts'
import { createResolver } from '../../../daemon/http/resolve.ts'
import { parseBlocks } from '../../../daemon/config/values.ts'
import { until } from '../../support/daemon.ts'
import { EMAIL, PASSWORD, TOKEN, cookieOf } from '../../support/site.ts'
import { sized } from '../../support/soak.ts'
import type { World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const WRONG = 'wrong horse battery'
const FAILED = '401 invalid_credentials'
/** A few milliseconds a hash, so that a flood fills the queue and a test does not take minutes. */
const COST = { ln: 11, r: 8, p: 1 }
/** Long beside what a request takes, so that guesses wait for their hashes. */
const SLOW = { ...COST, ln: 14 }

/** More guesses than run and wait at once, with those that end while they come. */
const MORE_THAN_WAIT = 150

/**
 * How often the owner signs in. The first times compete for hashes with everybody; later the other networks have
 * failed too often, and only their requests are in the way.
 */
const TIMES = sized(10, 50)

/** A caller that comes from an address of its own, or that a trusted proxy brings. */
interface From {
  /** An address of this machine. */
  readonly local?: string
  readonly forwarded?: string
}

interface Door extends World {
  /** The status and code that an attempt to sign in gets over a connection of its own. */
  tries(from: From, password: string, email?: string): Promise<string>
  /** How many hashes were asked for in order to check a password. */
  hashes(): number
}

/** Sign-in over HTTP, with one user. */
async function openDoor(t: Test, proxies = '', cost: ScryptCost = COST): Promise<Door> {
  const inner = createPasswords({ cost })
  let hashes = 0
  const passwords: Passwords = {
    ...inner,
    check(...given) {
      hashes += 1
      return inner.check(...given)
    },
  }
  const world = await createWorld(t, {
    families: [createAccountsFamily({ passwords })],
    resolve: (platform) => createResolver({ platform, operatorToken: TOKEN }),
    trustedProxies: parseBlocks(proxies),
  })
  const body = { email: EMAIL, password: PASSWORD }
  const made = await world.request('POST', '/v1/users', { as: TOKEN, body })
  t.equal(made.status, 201)
  return {
    ...world,
    tries: (from, password, email = EMAIL) =>
      post(`${world.baseUrl}/v1/session`, from, { email, password }),
    hashes: () => hashes,
  }
}

function post(url: string, { local, forwarded }: From, body: unknown): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
  }
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      {
        method: 'POST',
        headers,
        agent: false,
        ...(local !== undefined && { localAddress: local }),
      },
      (response) => {
        void readAll(response).then((text) => {
          const { error } = JSON.parse(text) as { error?: { code: string } }
          resolve([response.statusCode, error?.code].filter(Boolean).join(' '))
        }, reject)
      },
    )
    asking.once('error', reject)
    asking.end(JSON.stringify(body))
  })
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/**
 * How often the owner signs in while other networks guess without end, and how many guesses were hashed
 * before the first time.
 */
async function signInDuring(
  door: Door,
  flood: { readonly networks: number; readonly each: number; readonly email: () => string },
  times: number,
): Promise<{ readonly signedIn: number; readonly guesses: number; readonly before: number }> {
  let isOver = false
  let guesses = 0
  let hashed = 0
  let before = Infinity
  const guess = async (local: string): Promise<void> => {
    while (!isOver) {
      const answer = await door.tries({ local }, WRONG, flood.email())
      if (answer === FAILED) hashed += 1
      guesses += 1
    }
  }
  const guessers = Array.from(
    { length: flood.networks },
    (_, index) => `127.0.1.${index + 1}`,
  ).flatMap((local) => Array.from({ length: flood.each }, () => guess(local)))
  let signedIn = 0
  for (let time = 0; time < times; time += 1) {
    if ((await door.tries({ local: '127.0.0.9' }, PASSWORD)) === '200') signedIn += 1
    before = Math.min(before, hashed)
  }
  isOver = true
  await Promise.all(guessers)
  return { signedIn, guesses, before }
}

/** One guess at the owner's password from each of so many networks, at once. */
function guessFrom(door: Door, count: number, addressOf: (index: number) => string) {
  let answered = 0
  const counts = new Map<string, number>()
  const guesses = Array.from({ length: count }, async (_, index) => {
    const answer = await door.tries({ forwarded: addressOf(index) }, WRONG)
    answered += 1
    counts.set(answer, (counts.get(answer) ?? 0) + 1)
  })
  const all = Promise.all(guesses).then(() =>
    [...counts].map(([answer, times]) => `${times} times ${answer}`).sort(),
  )
  return { answered: () => answered, all }
}

let names = 0
const unknown = (): string => `nobody-${(names += 1)}@example.com`

export const SIGN_IN_CHECKS: Checks = {
  async F09(t, saw) {
    const door = await openDoor(t, '', SLOW)
    // As many as their networks may fail: all of them wait when the owner comes.
    const flood = { networks: 3, each: 30, email: unknown }
    const { signedIn, guesses, before } = await signInDuring(door, flood, TIMES)
    saw(signedIn === TIMES ? 'every time' : `${signedIn} of ${TIMES}`)
    t.ok(guesses > 90, `${guesses} guesses`)
    t.ok(before < 45, `${before} guesses were hashed before the owner was served`)
  },

  async F10(t, saw) {
    // The 300 guesses that the networks may fail are hashed, whatever one hash takes.
    const door = await openDoor(t, '', { ...COST, ln: 13 })
    // More than may wait.
    let asked = 0
    const email = () => ((asked += 1) % 2 === 0 ? EMAIL : unknown())
    const flood = { networks: 10, each: 30, email }
    const { signedIn, guesses } = await signInDuring(door, flood, TIMES)
    saw(signedIn === TIMES ? 'every time' : `${signedIn} of ${TIMES}`)
    t.ok(guesses > 300, `${guesses} guesses`)
  },

  async F11(t, saw) {
    const door = await openDoor(t, '127.0.0.1')
    const answers = new Map<string, number>()
    for (let host = 1; host <= 30; host += 1) {
      const answer = await door.tries({ forwarded: `2001:db8::${host.toString(16)}` }, WRONG)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    for (const [answer, count] of answers) saw(`${count} times ${answer}`)
    saw(await door.tries({ forwarded: '2001:db8:0:1::1' }, PASSWORD))
  },

  async F12(t, saw) {
    const door = await openDoor(t, '', SLOW)
    const answers = new Map<string, number>()
    for (let address = 0; address < 40; address += 1) {
      const answer = await door.tries({ local: '127.0.0.2' }, WRONG, unknown())
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    for (const [answer, count] of answers) saw(`${count} times ${answer}`)
    saw(await door.tries({ local: '127.0.0.3' }, PASSWORD))
  },

  async F13(t, saw) {
    const door = await openDoor(t, '127.0.0.1', SLOW)
    const other = 'other@example.com'
    const body = { email: other, password: PASSWORD }
    await door.request('POST', '/v1/users', { as: TOKEN, body })
    const guesses = guessFrom(door, 20, (index) => `198.51.100.${index + 1}`)
    await until('all guesses wait', () => door.hashes() === 20)
    const owner = door.tries({ forwarded: '192.0.2.1' }, PASSWORD)
    const user = door.tries({ forwarded: '203.0.113.1' }, PASSWORD, other)
    saw(`${await owner} to the owner`)
    saw(`${await user} to another user`)
    saw(guesses.answered() < 10 ? 'before half of the guesses' : `after ${guesses.answered()}`)
    t.same(await guesses.all, [`20 times ${FAILED}`])
  },

  async F14(t, saw) {
    const door = await openDoor(t, '', SLOW)
    const signedIn = await door.request('POST', '/v1/session', {
      as: null,
      body: { email: EMAIL, password: PASSWORD },
    })
    const headers = { cookie: cookieOf(signedIn), 'sec-fetch-site': 'same-origin' }
    const stepUp = (password: string) =>
      door.request('POST', '/v1/session/step-up', { as: null, headers, body: { password } })
    for (let guess = 0; guess < 5; guess += 1) t.equal((await stepUp(WRONG)).status, 401)
    saw(`${(await stepUp(PASSWORD)).status} to a step-up`)
    saw(`${await door.tries({ local: '127.0.0.1' }, PASSWORD)} to a sign-in`)
    saw(`${await door.tries({ local: '127.0.0.2' }, PASSWORD)} from another network`)
  },

  async F61(t, saw) {
    const hex = (index: number): string => index.toString(16)
    const networks = {
      'of one /56': (index: number) => `2001:db8:1:${hex(index)}::1`,
      'of one /48': (index: number) => `2001:db8:1:${hex(256 * index)}::1`,
    }
    for (const [name, addressOf] of Object.entries(networks)) {
      const door = await openDoor(t, '127.0.0.1', { ...COST, ln: 13 })
      const guesses = guessFrom(door, MORE_THAN_WAIT, addressOf)
      await until('all guesses have come', () => door.hashes() === MORE_THAN_WAIT)
      saw(await door.tries({ forwarded: '2001:db8:2::1' }, PASSWORD))
      const before = guesses.answered()
      saw(before < MORE_THAN_WAIT / 2 ? 'before half of the guesses' : `after ${before}`)
      t.match(await guesses.all, [/401 invalid_credentials/, /429 rate_limited/], name)
    }
  },
}

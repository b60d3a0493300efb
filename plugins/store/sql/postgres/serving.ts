import { randomUUID } from 'node:crypto'
import { kernelError } from '../../../../lib/errors.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Tables } from '../tables.ts'
import type { Backend } from './session.ts'
import { bears, channelOf, endBackend, enter, leave, sign } from './session.ts'
import type { Loan, PgNotification, PgSource } from './source.ts'
import { queryOn } from './statement.ts'

/** The one process that serves a database, and what wakes it. */
export interface Serving {
  /** @throws KeyhookError `unavailable` unless this process is known to serve the database */
  assert(): void
  /** Leaves this process's mark, by which it knows later that no other served in between. */
  sign(): Promise<void>
  /** Calls `listener` when a commit was told, and when one may have been told unheard. */
  watch(listener: () => void): () => void
  end(): Promise<void>
}

type Standing = 'serving' | 'lost' | 'superseded' | 'ended'

const FIRST_DELAY: Millis = 50
const LONGEST_DELAY: Millis = 5 * SECOND
/** A connection that was cut in silence is found out by the second beat. */
const BEAT: Millis = 10 * SECOND

/**
 * Takes the database for this process, for as long as a connection of its own lives.
 *
 * When that breaks, nothing is written until another has taken its place. Had another process served
 * meanwhile, what this one remembers would be stale: then it never writes again.
 *
 * @throws Error when another process serves it
 */
export async function serve(source: PgSource, t: Tables): Promise<Serving> {
  const mark = randomUUID()
  const listeners = new Set<() => void>()
  let standing: Standing = 'lost'
  let loan: Loan | undefined
  let backend: Backend | undefined
  let regaining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const is = (one: Standing): boolean => standing === one

  const lose = (cause = new Error('the connection ended')): void => {
    if (!is('serving')) return
    standing = 'lost'
    drop(cause)
    regainAfter(0, FIRST_DELAY)
  }
  const hear = ({ channel }: PgNotification): void => {
    if (channel === channelOf(t)) tell()
  }
  const tell = (): void => {
    for (const listener of listeners) listener()
  }

  function keep(taken: Loan): void {
    loan = taken
    taken.client.on('error', lose)
    taken.client.on('end', lose)
    taken.client.on('notification', hear)
    standing = 'serving'
    beat(taken, true)
  }

  function drop(broken?: Error): void {
    clearTimeout(timer)
    if (loan === undefined) return
    const { client, giveBack } = loan
    loan = undefined
    giveBack(broken)
    client.off('notification', hear)
    client.off('end', lose)
    client.off('error', lose)
  }

  function beat(held: Loan, isAnswered: boolean): void {
    timer = setTimeout(() => {
      if (!isAnswered) lose(new Error('the connection does not answer'))
      else void ping(held)
    }, BEAT).unref()
  }

  async function ping(held: Loan): Promise<void> {
    beat(held, false)
    await queryOn(held.client)('SELECT 1').catch(lose)
    if (held !== loan) return
    clearTimeout(timer)
    beat(held, true)
  }

  function regainAfter(delay: Millis, next: Millis): void {
    timer = setTimeout(() => {
      regaining = tryRegain(next)
    }, delay).unref()
  }

  async function tryRegain(next: Millis): Promise<void> {
    try {
      await regain()
    } catch {
      if (is('lost')) regainAfter(next, Math.min(2 * next, LONGEST_DELAY))
    }
  }

  async function regain(): Promise<void> {
    const taken = await source.borrow()
    const query = queryOn(taken.client)
    try {
      if (backend !== undefined) await endBackend(query, backend)
      const entered = await enter(query, t)
      if (!(await bears(query, t, mark))) standing = 'superseded'
      if (entered === undefined || !is('lost')) throw new Error(`${standing}, and not regained`)
      backend = entered
    } catch (cause) {
      // Closed rather than lent again: it may hold the lock.
      taken.giveBack(new Error('not regained', { cause }))
      throw cause
    }
    keep(taken)
    tell()
  }

  const first = await source.borrow()
  try {
    backend = await enter(queryOn(first.client), t)
  } catch (cause) {
    first.giveBack(new Error('could not be entered', { cause }))
    throw cause
  }
  if (backend === undefined) {
    first.giveBack()
    throw new Error('another process serves this database; several processes come later')
  }
  keep(first)

  return {
    assert() {
      if (!is('serving')) throw kernelError('unavailable', { internal: `${standing} the database` })
    },
    async sign() {
      if (loan !== undefined) await sign(queryOn(loan.client), t, mark)
    },
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async end() {
      standing = 'ended'
      clearTimeout(timer)
      await regaining
      const held = loan
      const left = held && leave(queryOn(held.client), t)
      await left?.then(
        () => drop(),
        (cause: Error) => drop(cause),
      )
    },
  }
}

import t from 'tap'
import { createChanges } from '../../lib/engine/changes.ts'
import type { CacheHolder, KeyCaches } from '../../lib/engine/key-caches.ts'
import { createKeyCaches } from '../../lib/engine/key-caches.ts'
import { LEASE } from '../../lib/engine/lease.ts'
import { createClock } from '../support/clock.ts'

const ACME: CacheHolder = { account_id: 'acc_1', id: 'cache_1' }
const OF_KEY = { kind: 'key', id: 'key_1', account_id: 'acc_1' } as const

function open({ mayHaveHolders = false, remaining = () => Infinity } = {}) {
  const clock = createClock(1_800_000_000_000)
  const changes = createChanges(remaining)
  let ids = 0
  const newId = (): string => `epoch${(ids += 1)}`
  const caches = createKeyCaches({ changes, clock, newId, mayHaveHolders })
  return { clock, changes, caches }
}

function leased(caches: KeyCaches, holder = ACME): string {
  return caches.renew(holder, null)?.position ?? ''
}

/** Whether it has resolved by now. */
function watch(applied: Promise<void> | undefined): () => boolean {
  let isDone = applied === undefined
  void applied?.then(() => {
    isDone = true
  })
  return () => isDone
}

await t.test('a change is applied once the holder acknowledges it', async (t) => {
  const { clock, changes, caches } = open()
  const first = caches.renew(ACME, null)
  t.match(first, { reset: true, changes: [], position: 'epoch1.0' })
  t.equal(first?.lease, 1960, 'less than what is waited for here')
  t.match(caches.renew(ACME, 'epoch1.0'), { reset: false, changes: [], position: 'epoch1.0' })

  const isApplied = watch(changes.emit(OF_KEY))
  await clock.advance(10)
  t.notOk(isApplied())
  t.equal(caches.position(ACME), 'epoch1.1', 'what is read now may not be cached by who missed it')
  const told = caches.renew(ACME, 'epoch1.0')
  t.match(told, { changes: [{ kind: 'key', id: 'key_1' }], position: 'epoch1.1', reset: false })
  await clock.advance(10)
  t.notOk(isApplied(), 'it was told, and has said nothing')
  t.match(caches.renew(ACME, 'epoch1.1'), { changes: [], position: 'epoch1.1' })
  await clock.advance(1)
  t.ok(isApplied())
})

await t.test('or once the lease that it had at the change has ended', async (t) => {
  const { clock, changes, caches } = open()
  leased(caches)
  await clock.advance(500)
  const isApplied = watch(changes.emit(OF_KEY))
  await clock.advance(600)
  // It goes on renewing, and says each time that it has applied nothing.
  caches.renew(ACME, 'epoch1.0')
  await clock.advance(LEASE - 500 - 600 - 1)
  t.notOk(isApplied())
  await clock.advance(1)
  t.ok(isApplied())
  t.match(caches.renew(ACME, 'epoch1.0')?.changes, [{ id: 'key_1' }], 'it is told again')
})

await t.test('a late renewal does not take back what was acknowledged', async (t) => {
  const { changes, caches } = open()
  leased(caches)
  void changes.emit(OF_KEY)
  caches.renew(ACME, 'epoch1.1')
  // Of a holder that took a late response for the last: it would never learn of the change again.
  t.match(caches.renew(ACME, 'epoch1.0'), { reset: true, position: 'epoch1.1' })
})

await t.test('whoever finds a change made waits for it too', async (t) => {
  const { clock, changes, caches } = open()
  leased(caches)
  t.equal(caches.settled('acc_1'), undefined)
  void changes.emit(OF_KEY)
  t.equal(caches.settled('acc_2'), undefined, 'not for that of another account')
  const isSettled = watch(caches.settled('acc_1'))
  await clock.advance(1)
  t.notOk(isSettled())
  caches.renew(ACME, 'epoch1.1')
  await clock.advance(1)
  t.ok(isSettled())
  t.equal(caches.settled('acc_1'), undefined)
})

await t.test('whoever holds none is not waited for', async (t) => {
  const { clock, changes, caches } = open()
  t.equal(changes.emit(OF_KEY), undefined)
  leased(caches)
  t.equal(changes.emit({ kind: 'webhooks', id: 'acc_1' }), undefined, 'no verdict depends on it')
  t.equal(changes.emit({ ...OF_KEY, account_id: 'acc_2' }), undefined, 'nor of that account')
  caches.end(ACME)
  t.equal(changes.emit(OF_KEY), undefined)
  t.equal(caches.position(ACME), undefined)
  leased(caches)
  await clock.advance(LEASE)
  t.equal(changes.emit(OF_KEY), undefined, 'its lease has ended')
  t.equal(caches.position(ACME), undefined)
  t.match(caches.renew(ACME, 'epoch2.0'), { reset: true }, 'and what it missed is not known')
})

await t.test('one that ends is waited for no longer', async (t) => {
  const { clock, changes, caches } = open()
  leased(caches)
  const isApplied = watch(changes.emit(OF_KEY))
  await clock.advance(1)
  t.notOk(isApplied())
  caches.end(ACME)
  await clock.advance(1)
  t.ok(isApplied())
})

await t.test('an account learns of its own keys alone, the operator of all', async (t) => {
  const { changes, caches } = open()
  const operator = { account_id: null, id: 'cache_1' }
  const own = leased(caches)
  const all = leased(caches, operator)
  void changes.emit({ ...OF_KEY, account_id: 'acc_2' }, { kind: 'account', id: 'acc_2' })
  t.match(caches.renew(ACME, own), { changes: [], reset: false, position: own })
  t.match(caches.renew(operator, all)?.changes, [{ id: 'key_1' }, { kind: 'account', id: 'acc_2' }])
  void changes.emit({ kind: 'key', id: 'key_of_whom' })
  t.match(caches.renew(ACME, own), { changes: [], reset: true }, 'without a word about whose it is')
})

await t.test('a holder that missed too much drops everything', async (t) => {
  const { changes, caches } = open()
  const own = leased(caches)
  for (let count = 0; count <= 1000; count += 1) void changes.emit(OF_KEY)
  t.match(caches.renew(ACME, own), { reset: true, changes: [], position: 'epoch1.1001' })
  t.match(caches.renew(ACME, 'epoch1.1001'), { reset: false })
})

await t.test('what nobody was told is not acknowledged', async (t) => {
  const { clock, changes, caches } = open()
  for (const applied of ['epoch1.2', 'epoch99.1', 'epoch1.', 'epoch1.1e0', '', '1', 'epoch1.-1']) {
    caches.end(ACME)
    leased(caches)
    const isApplied = watch(changes.emit(OF_KEY))
    caches.renew(ACME, applied)
    await clock.advance(1)
    t.notOk(isApplied(), applied)
  }
})

await t.test('an account holds four at a time', async (t) => {
  const { clock, caches } = open()
  for (const id of ['a', 'b', 'c', 'd']) leased(caches, { ...ACME, id })
  t.throws(() => caches.renew({ ...ACME, id: 'e' }, null), {
    name: 'CacheLimitError',
  })
  leased(caches, { ...ACME, id: 'a' })
  leased(caches, { account_id: 'acc_2', id: 'e' })
  await clock.advance(LEASE)
  leased(caches, { ...ACME, id: 'e' })
})

await t.test('a lease ends with that of this process at the latest', async (t) => {
  let remaining = 1500
  const { caches } = open({ remaining: () => remaining })
  t.equal(caches.renew(ACME, null)?.lease, 1460)
  remaining = 0
  t.equal(caches.renew(ACME, 'epoch1.0'), undefined)
  t.equal(caches.position(ACME), undefined, 'and what is read then is not cached')
})

await t.test('what an earlier process granted is waited for', async (t) => {
  const { clock, changes } = open({ mayHaveHolders: true })
  await clock.advance(500)
  const isApplied = watch(changes.emit(OF_KEY))
  await clock.advance(LEASE - 501)
  t.notOk(isApplied())
  await clock.advance(1)
  t.ok(isApplied())
  t.equal(changes.emit(OF_KEY), undefined)
})

await t.test('a follower is woken by changes that concern it', async (t) => {
  const { changes, caches } = open()
  leased(caches)
  let woken = 0
  const unfollow = caches.follow(ACME, () => {
    woken += 1
  })
  void changes.emit(OF_KEY)
  void changes.emit({ ...OF_KEY, account_id: 'acc_2' })
  t.equal(woken, 1)
  unfollow()
  void changes.emit(OF_KEY)
  t.equal(woken, 1)
})

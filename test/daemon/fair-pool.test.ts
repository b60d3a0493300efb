import fc from 'fast-check'
import t from 'tap'
import { createFairPool } from '../../daemon/limits/fair-pool.ts'
import { LinkedList } from '../../daemon/limits/linked-list.ts'

const ignore = (): void => undefined

await t.test('one holder alone may use all of it, and no more', async (t) => {
  const pool = createFairPool({ limit: 3 })
  const leases = [1, 2, 3].map(() => pool.take('a', 1, ignore))
  t.notOk(leases.includes(undefined))
  t.equal(pool.take('a', 1, ignore), undefined)
  leases[0]?.release()
  leases[0]?.release()
  t.equal(pool.used, 2, 'a lease is released once')
  t.ok(pool.take('a', 1, ignore))
})

await t.test(
  'a newcomer takes the newest leases of the heaviest, up to equal shares',
  async (t) => {
    const pool = createFairPool({ limit: 4 })
    const evicted: string[] = []
    for (const id of ['a1', 'a2', 'a3', 'a4']) pool.take('a', 1, () => evicted.push(id))
    t.ok(pool.take('b', 1, ignore))
    t.ok(pool.take('b', 1, ignore))
    t.same(evicted, ['a4', 'a3'])
    t.equal(pool.take('b', 1, ignore), undefined)
    t.same([pool.heldBy('a'), pool.heldBy('b'), pool.used], [2, 2, 4])
  },
)

await t.test('equal holders do not evict each other', async (t) => {
  const pool = createFairPool({ limit: 2 })
  t.ok(pool.take('a', 1, t.fail))
  t.ok(pool.take('b', 1, t.fail))
  t.equal(pool.take('c', 1, ignore), undefined)
})

await t.test('nobody is evicted for a request that is refused all the same', async (t) => {
  const pool = createFairPool({ limit: 64 })
  for (let n = 0; n < 22; n += 1) pool.take('a', 1, t.fail)
  for (const holder of ['b', 'c']) pool.take(holder, 21, t.fail)
  t.equal(pool.take('d', 21.5, ignore), undefined)
  t.same([pool.heldBy('a'), pool.used], [22, 64])
})

await t.test('a lease grows by the same rule, and not once it was evicted', async (t) => {
  const pool = createFairPool({ limit: 10 })
  let evictions = 0
  const heavy = pool.take('a', 9, () => (evictions += 1))
  const light = pool.take('b', 1, t.fail)
  t.notOk(heavy?.add(1), 'the heaviest takes nothing from others')
  t.ok(light?.add(1))
  t.equal(evictions, 1)
  t.notOk(heavy?.add(1), 'an evicted lease holds nothing any more')
  heavy?.release()
  t.same([pool.heldBy('a'), pool.heldBy('b'), pool.used], [0, 2, 2])
})

await t.test('a kept lease is not evicted', async (t) => {
  const pool = createFairPool({ limit: 10 })
  const evicted: string[] = []
  const kept = pool.take('a', 5, () => evicted.push('a'))
  kept?.keep()
  pool.take('b', 1, () => evicted.push('b1'))
  pool.take('b', 4, () => evicted.push('b2'))
  const third = pool.take('c', 3, () => evicted.push('c'))
  t.same(evicted, ['b2'], 'the next heaviest gives way')
  third?.keep()
  t.equal(pool.take('d', 2, ignore), undefined)
  t.same([evicted, pool.heldBy('a'), pool.used], [['b2'], 5, 9])
  kept?.release()
  t.ok(pool.take('d', 2, ignore))
})

await t.test('a holder has a limit of its own where one is set', async (t) => {
  const pool = createFairPool({ limit: 10, each: 4 })
  const lease = pool.take('a', 3, ignore)
  t.notOk(lease?.add(2))
  t.ok(lease?.add(1))
})

await t.test('whoever would hold no more than a fair share is served', async () => {
  const leases = fc.record({
    holder: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.integer({ min: 1, max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(leases, { maxLength: 40 }), fc.integer({ min: 1, max: 24 }), (all, n) => {
      const pool = createFairPool({ limit: 24 })
      for (const { holder, amount } of all) pool.take(holder, amount, ignore)
      const names = ['a', 'b', 'c', 'd', 'new']
      const holders = names.filter((name) => name === 'new' || pool.heldBy(name) > 0).length
      return n > 24 / holders || pool.take('new', n, ignore) !== undefined
    }),
  )
})

await t.test('totals never pass the limits, and all that is released is free again', async () => {
  const step = fc.record({
    holder: fc.constantFrom('a', 'b', 'c'),
    amount: fc.integer({ min: 0, max: 6 }),
    act: fc.constantFrom('take', 'add', 'release'),
    at: fc.nat(20),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pool = createFairPool({ limit: 12, each: 9 })
      const leases: { add(n: number): boolean; release(): void }[] = []
      for (const { holder, amount, act, at } of steps) {
        const chosen = leases[at % Math.max(1, leases.length)]
        if (act === 'take') {
          const lease = pool.take(holder, amount, ignore)
          if (lease !== undefined) leases.push(lease)
        } else if (act === 'add') chosen?.add(amount)
        else chosen?.release()
        const held = ['a', 'b', 'c'].map((name) => pool.heldBy(name))
        if (held.some((one) => one > 9 || one < 0)) return false
        if (pool.used > 12 || held.reduce((a, b) => a + b, 0) !== pool.used) return false
      }
      for (const lease of leases) lease.release()
      return pool.used === 0
    }),
  )
})

await t.test('a kept lease that is offered again is evicted until it is kept', async (t) => {
  const pool = createFairPool({ limit: 4 })
  const evicted: string[] = []
  for (const id of ['a1', 'a2', 'a3', 'a4']) {
    const lease = pool.take('a', 1, t.fail)
    lease?.keep()
    lease?.offer(() => evicted.push(id))
    if (id === 'a4') lease?.keep()
  }
  t.ok(pool.take('b', 1, t.fail))
  t.same(evicted, ['a3'])
  t.same([pool.heldBy('a'), pool.used], [3, 4])
})

await t.test(
  'a list keeps the order of what was added, wherever something is removed',
  async (t) => {
    const list = new LinkedList<number>()
    const [first, second, middle, , last] = [1, 2, 3, 4, 5].map((value) => list.add(value))
    for (const node of [middle, first, last, middle]) if (node !== undefined) list.remove(node)
    t.match(second, { previous: undefined, next: { value: 4 } })
    t.same([middle?.previous, middle?.next], [undefined, undefined], 'it keeps no neighbours')
    const six = list.add(6)
    t.same([...list], [2, 4, 6])
    const seen: number[] = []
    for (const value of list) {
      seen.push(value)
      if (value === 6) list.remove(six)
    }
    t.same(seen, [2, 4, 6])
    t.same([...list], [2, 4])
  },
)

await t.test('a list is empty once everything was removed', async (t) => {
  const list = new LinkedList<number>()
  for (const node of [1, 2].map((value) => list.add(value))) list.remove(node)
  t.ok(list.isEmpty)
  list.add(3)
  t.same([...list], [3])
})

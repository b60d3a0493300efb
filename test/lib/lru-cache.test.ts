import fc from 'fast-check'
import t from 'tap'
import { LruCache } from '../../lib/internal/lru-cache.ts'

/** The same cache as a list in the order of use, with bounds in plain sight. */
function createModel(max: number, maxSize: number) {
  let entries: (readonly [key: string, value: number])[] = []
  const without = (key: string) => entries.filter(([one]) => one !== key)
  const sum = () => entries.reduce((total, [, value]) => total + value, 0)
  return {
    entries: () => entries,
    get(key: string) {
      const found = entries.find(([one]) => one === key)
      if (found !== undefined) entries = [...without(key), found]
      return found?.[1]
    },
    peek: (key: string) => entries.find(([one]) => one === key)?.[1],
    set(key: string, value: number) {
      entries = without(key)
      if (value > maxSize) return
      entries.push([key, value])
      while (entries.length > max || sum() > maxSize) entries.shift()
    },
    delete(key: string) {
      entries = without(key)
    },
    clear() {
      entries = []
    },
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const step = fc.oneof(
  fc.tuple(fc.constant('set'), key, fc.integer({ min: 1, max: 12 })),
  fc.tuple(fc.constantFrom('get', 'peek', 'delete'), key, fc.constant(0)),
  fc.tuple(fc.constant('clear'), key, fc.constant(0)),
)

await t.test('it keeps what a list in the order of use keeps, and disposes of the rest', (t) => {
  const bound = fc.integer({ min: 1, max: 5 })
  fc.assert(
    fc.property(
      bound,
      fc.integer({ min: 1, max: 20 }),
      fc.array(step, { maxLength: 60 }),
      (max, maxSize, steps) => {
        const alive = new Map<string, number>()
        const cache = new LruCache<number>({
          max,
          maxSize,
          sizeOf: (value) => value,
          dispose(value, left) {
            if (alive.get(left) !== value) throw new Error(`${left} was not there`)
            alive.delete(left)
          },
        })
        const model = createModel(max, maxSize)
        for (const [name, on, value] of steps) {
          if (name === 'set') {
            // What is replaced is disposed of before the new value is there.
            const before = cache.peek(on)
            if (before === undefined) alive.delete(on)
            cache.set(on, value)
            model.set(on, value)
            if (cache.peek(on) !== undefined) alive.set(on, value)
          } else if (name === 'clear') {
            cache.clear()
            model.clear()
          } else if (name === 'delete') {
            cache.delete(on)
            model.delete(on)
          } else if (name === 'get' || name === 'peek') {
            if (cache[name](on) !== model[name](on)) return false
          }
          const kept = [...cache]
          const size = kept.reduce((total, [, one]) => total + one, 0)
          if (JSON.stringify(kept) !== JSON.stringify(model.entries())) return false
          if (cache.size !== size || kept.length !== alive.size) return false
        }
        return true
      },
    ),
    { numRuns: 2000 },
  )
  t.pass('2,000 sequences')
  t.end()
})

await t.test('the current entry may be deleted while its entries are read', (t) => {
  const cache = new LruCache<number>({ max: 10 })
  for (const name of ['a', 'b', 'c', 'd']) cache.set(name, 1)
  for (const [name] of cache) if (name !== 'c') cache.delete(name)
  t.same([...cache], [['c', 1]])
  t.end()
})

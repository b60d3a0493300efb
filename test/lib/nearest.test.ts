import fc from 'fast-check'
import t from 'tap'
import { nearest, suggestEach } from '../../lib/internal/nearest.ts'

/** Optimal string alignment by its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [restA, restB] = [a.slice(1), b.slice(1)]
  if (a[0] === b[0]) return distance(restA, restB)
  const isSwap = a.length > 1 && a[0] === b[1] && a[1] === b[0]
  return (
    1 +
    Math.min(
      distance(restA, b),
      distance(a, restB),
      distance(restA, restB),
      isSwap ? distance(a.slice(2), b.slice(2)) : Infinity,
    )
  )
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })

await t.test(
  'the nearest candidate is the first of those with the fewest differences',
  async (t) => {
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 5 }), (given, candidates) => {
        const most = Math.max(1, Math.floor(given.length / 3))
        const found = candidates.map((one) => distance(given, one)).filter((count) => count <= most)
        const least = Math.min(...found)
        t.equal(
          nearest(given, candidates),
          candidates.find((one) => distance(given, one) === least),
        )
      }),
    )
  },
)

await t.test('a long word is near with four differences, and not with five', async (t) => {
  const long = 'order.'.repeat(10)
  t.equal(nearest(`${long}1234`, [long]), long)
  t.equal(nearest(`${long}12345`, [long]), undefined)
  t.equal(nearest(`1234${long}`, [long]), long)
  t.equal(nearest(`${'o'.repeat(4)}${long.slice(4)}`, [long]), long)
})

await t.test('the first five words of a list are compared', async (t) => {
  const suggest = suggestEach(['order.paid'])
  const found = Array.from({ length: 7 }, () => suggest('order.payd'))
  const meant = ' Did you mean "order.paid"?'
  t.same(found, [...Array<string>(5).fill(meant), '', ''])
})

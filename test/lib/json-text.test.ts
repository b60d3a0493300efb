import fc from 'fast-check'
import t from 'tap'
import { elementSpans, memberSpan } from '../../lib/internal/json-text.ts'

const value = fc.json({ maxDepth: 4 })
const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/)

await t.test('a member is found as it was written, whatever stands around it', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string(), value, space)),
      value,
      space,
      (others, data, gap) => {
        const members = others
          .filter(([name]) => name !== 'data')
          .map(
            ([name, text, around]) => `${around}${JSON.stringify(name)}${around}:${around}${text}`,
          )
        members.splice(Math.floor(members.length / 2), 0, `${gap}"data"${gap}:${gap}${data}${gap}`)
        const text = `${gap}{${members.join(',')}}`
        const span = memberSpan(text, 0, 'data')
        t.equal(text.slice(span?.from, span?.to), data.trim())
      },
    ),
  )
})

await t.test('of a member that stands twice the last counts, as in JSON.parse', async (t) => {
  const text = '{"data":1,"d\\u0061ta":{"x":"}\\""},"y":[]}'
  const span = memberSpan(text, 0, 'data')
  t.equal(text.slice(span?.from, span?.to), '{"x":"}\\""}')
  t.same(JSON.parse(text.slice(span?.from, span?.to)), (JSON.parse(text) as { data: unknown }).data)
})

await t.test(
  'a member that is missing is not found, also when a deeper one bears its name',
  async (t) => {
    t.equal(memberSpan('{}', 0, 'data'), undefined)
    t.equal(memberSpan('{"a":{"data":1},"b":"\\"data\\":2"}', 0, 'data'), undefined)
  },
)

await t.test('elements are found as they were written', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, space)), space, (elements, gap) => {
      const text = `[${gap}${elements.map(([one, around]) => `${around}${one}${around}`).join(',')}]`
      const found = elementSpans(text, 0).map(({ from, to }) => text.slice(from, to))
      t.same(
        found,
        elements.map(([one]) => one.trim()),
      )
    }),
  )
})

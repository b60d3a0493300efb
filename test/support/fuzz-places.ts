import type { DocumentedOperation } from './openapi.ts'
import { DOCUMENTED } from './openapi.ts'
import type { SeededRandom } from './seeded-random.ts'

export type Params = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, unknown>>

/** Values for path parameters that answers have shown. */
export interface Places {
  /** Values for every parameter of an operation's path: seen ones, else those of its example. */
  draw(operation: DocumentedOperation, random: SeededRandom): Params
  /** Takes note of the records in an answer to the operation, asked with these parameters. */
  learn(operation: DocumentedOperation, params: Params, body: Fields): void
}

/** `/v1/webhooks/{webhook_id}/test` lies below `/v1/webhooks/{webhook_id}`. */
function placeAbove(path: string): string {
  return path.slice(0, path.lastIndexOf('}') + 1)
}

const PLACES: readonly string[] = [...new Set(DOCUMENTED.map(({ path }) => placeAbove(path)))]

export function createPlaces(): Places {
  const seen = new Map<string, Params[]>(PLACES.map((place) => [place, []]))

  return {
    draw({ path }, random) {
      const latest = (place: string): Params | undefined =>
        random.pickAny((seen.get(place) ?? []).slice(-4))
      const place = placeAbove(path)
      // What bears a name of the caller's own is not there before it is set: then what it is set of counts.
      const known = latest(place) ?? latest(placeAbove(place.slice(0, place.lastIndexOf('{'))))
      return { ...exampleParams(path), ...known }
    },
    learn({ path }, params, body) {
      const records = Array.isArray(body['data']) ? (body['data'] as readonly Fields[]) : [body]
      for (const [place, known] of seen) {
        const name = /^\/\{(\w+)\}$/.exec(place.slice(path.length))?.[1]
        if (name === undefined || !place.startsWith(path)) continue
        for (const record of records) {
          const value = record[name] ?? record['id']
          if (typeof value === 'string') known.push({ ...params, [name]: value })
        }
      }
    },
  }
}

/** What the example of an answer bears as the parameters of its path. */
function exampleParams(path: string): Params {
  const operation = DOCUMENTED.find((one) => placeAbove(one.path) === placeAbove(path))
  const answers = Object.values(operation?.responses ?? {})
  const example = answers.map(({ content }) => content?.['application/json']?.example).find(Boolean)
  const fields = (example ?? {}) as Fields
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name) => [name, String(fields[name] ?? fields['id'])]))
}

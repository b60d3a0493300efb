import { z } from 'zod'
import { suggest } from '../../../lib/internal/nearest.ts'
import { isFamily, subscribesTo } from '../../../lib/webhook/match.ts'
import type { CommandWarning } from '../../operations/operation.ts'
import { listTypes } from '../events/operations/types.ts'

const sentEvents = z.object({ events: z.array(z.string()) })
const knownTypes = z.object({ data: z.array(z.object({ type: z.string() })) })

/**
 * Warns of families without a known event type. They are accepted, because a subscription may precede the
 * first type of its family.
 */
export const UNMATCHED_FAMILIES: CommandWarning = {
  list: (sent) => (familiesOf(sent).length === 0 ? undefined : listTypes.path),
  describe(sent, read) {
    const listed = knownTypes.safeParse(read)
    if (!listed.success) return []
    const types = listed.data.data.map(({ type }) => type)
    return familiesOf(sent)
      .filter((family) => !types.some((type) => subscribesTo(family, type, () => false)))
      .map(
        (family) =>
          `No known event type matches ${family}.${suggest(family, [...patternsOf(types), ...types])} ` +
          'Types of this family that are declared later will match.',
      )
  },
}

function familiesOf(sent: Readonly<Record<string, unknown>>): readonly string[] {
  return sentEvents.safeParse(sent).data?.events.filter(isFamily) ?? []
}

/** `order.*` and `order.line.*` of `order.line.added`. */
function patternsOf(types: readonly string[]): ReadonlySet<string> {
  return new Set(
    types.flatMap((type) => {
      const words = type.split('.').slice(0, -1)
      return words.map((_, index) => `${words.slice(0, index + 1).join('.')}.*`)
    }),
  )
}

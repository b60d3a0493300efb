import { deployFamily } from '../../daemon/families/deploy/family.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import type { Family } from '../../daemon/operations/family.ts'

const SPECIFIED = [
  'app.deployed',
  'app.unpublished',
  'app.rolled_back',
  'file.processed',
  'file.failed',
]

/** Events with the types that the specification names, for a world in which their own families are not served. */
const specified: Family = {
  ...eventsFamily,
  events: [...deployFamily.events, ...filesFamily.events].filter(({ type }) =>
    SPECIFIED.includes(type),
  ),
}

export function withSpecifiedEvents(families: readonly Family[]): readonly Family[] {
  return families.map((family) => (family === eventsFamily ? specified : family))
}

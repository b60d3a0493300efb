import { eventsByType } from '../../daemon/events/types.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

const EVENTS = eventsByType(FAMILIES.flatMap(({ events }) => events))

/** An event as a test reads it. */
export interface ReadEvent {
  readonly type: string
  readonly data?: unknown
}

/** What is wrong with the data of an event of the service, by the schema that its type declares. */
export function faultsOfData({ type, data }: ReadEvent): readonly string[] {
  const schema = EVENTS.get(type)?.schema
  if (schema === undefined) return [`${type} declares no data`]
  const issues = schema.safeParse(data).error?.issues ?? []
  return issues.map(({ path, message }) => `${type}: ${path.join('.')}: ${message}`)
}

/** Refuses events of the service whose data is not what their types declare. */
export function requireDeclared(events: readonly ReadEvent[]): void {
  const faults = events.flatMap(faultsOfData)
  if (faults.length > 0) throw new Error(`data that is not declared: ${faults.join('; ')}`)
}

import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'

/** How the record of accepted work is read, and followed. */
export interface FollowedWork {
  readonly record: Operation
  /** Server-sent events until its end; undefined: the record can only be read again. */
  readonly events: Operation | undefined
  readonly params: Readonly<Record<string, string>>
  /** Whether the accepting response has every field of the record, which updates it then. */
  readonly isWhole: boolean
}

/** Finds the work that a response of `operation` accepted, by the path of its record. */
export type FindWork = (operation: Operation, path: string) => FollowedWork | undefined

/** Finds the records and streams of work among the operations of families. */
export function createWorkFinder(families: readonly Family[]): FindWork {
  const operations = families.flatMap((family) => family.operations)
  const reads = operations
    .filter(({ method, effect }) => method === 'GET' && effect === 'read')
    .map((record) => ({
      record,
      pattern: patternOf(record.path),
      events: operations.find(
        ({ effect, path }) => effect === 'stream' && path === `${record.path}/events`,
      ),
    }))
  return (operation, path) => {
    for (const { record, pattern, events } of reads) {
      const found = pattern.exec(path)
      if (found === null) continue
      const params = { ...found.groups }
      return { record, events, params, isWhole: isSuperset(operation, record) }
    }
    return undefined
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function isSuperset({ output }: Operation, record: Operation): boolean {
  const fields = fieldsOf(output)
  const known = fieldsOf(record.output)
  return known.length > 0 && known.every((name) => fields.includes(name))
}

function fieldsOf(schema: Operation['output']): readonly string[] {
  return 'shape' in schema ? Object.keys(schema.shape as object) : []
}

import { SPEC_SCOPES } from '../../lib/scope/syntax.ts'
import { isEventType } from '../../lib/webhook/event.ts'
import { isForeignKind } from '../../plugins/platform/contract/jobs.ts'
import { FAMILY_NAME } from '../../plugins/platform/contract/records.ts'
import { FAMILIES, errorRows } from '../families/index.ts'
import { taskEvents } from '../jobs/tasks.ts'
import { isTool } from '../operations/agent.ts'
import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'
import { readFamily, readOperation } from '../operations/declared.ts'

/** Every name that is taken: of all families of the product, served or not, and of those added before. */
interface Taken {
  readonly families: readonly Family[]
  readonly scopes: ReadonlySet<string>
  readonly events: ReadonlySet<string>
  readonly errors: ReadonlySet<string>
  readonly operations: readonly Operation[]
  readonly commands: ReadonlySet<string>
}

/**
 * Refuses families of third parties that cannot be added to the product's: another form, or a name that something else
 * has. One registration adds a family everywhere, so that each of its names must be its own.
 *
 * @param before families that were added earlier, and are not looked at again
 * @throws TypeError of one line
 */
export async function requireAddable(
  added: readonly Family[],
  before: readonly Family[] = [],
): Promise<void> {
  for (const [at, family] of added.entries()) {
    try {
      requireForm(family)
      requireOwnNames(family, takenBy([...FAMILIES, ...before, ...added.slice(0, at)]))
      await requireDescribable(family)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      const name = typeof family.name === 'string' ? `the family ${family.name}` : 'a family'
      throw new TypeError(`${name} cannot be served: ${reason}`, { cause })
    }
  }
}

function takenBy(families: readonly Family[]): Taken {
  const operations = families.flatMap((family) => family.operations)
  const events = [...families.flatMap((family) => family.events), ...taskEvents.types]
  return {
    families,
    scopes: new Set([
      ...Object.keys(SPEC_SCOPES),
      ...families.flatMap(({ scopes }) => Object.keys(scopes)),
    ]),
    events: new Set(events.map(({ type }) => type)),
    errors: new Set(Object.keys(errorRows(families))),
    operations,
    commands: new Set(operations.flatMap(({ command }) => groupOf(command))),
  }
}

/** `note` of `note create <text>` */
function groupOf(command: string | undefined): readonly string[] {
  return command === undefined ? [] : [command.split(' ')[0] ?? '']
}

/** A family may come from a module that nobody checked. */
function requireForm(family: Family): void {
  readFamily([family])
  for (const one of family.operations) readOperation([one])
  const { name, operations, events, jobs = [], records } = family
  if (!FAMILY_NAME.test(name)) throw new TypeError('its name is not [a-z][a-z0-9]{0,19}')
  for (const one of operations) requireOperation(name, one, family)
  const type = events.find((event) => !isEventType(event.type))
  if (type !== undefined) throw new TypeError(`its event ${type.type} is no event type`)
  const misfit = events.find(({ schema, sample }) => schema?.safeParse(sample).success === false)
  if (misfit !== undefined) {
    throw new TypeError(`the sample of ${misfit.type} does not fit its schema`)
  }
  for (const kind of jobs.flatMap((one) => ('kind' in one ? [String(one.kind)] : []))) {
    if (isForeignKind(kind) && kind.startsWith(`${name}.`)) continue
    throw new TypeError(`its job ${kind} is not called ${name}.<name>`)
  }
  if (records !== undefined && records.family !== name) {
    throw new TypeError(`its records are those of ${records.family}`)
  }
}

function requireOperation(name: string, one: Operation, { scopes, errors }: Family): void {
  const { id, path, access, example, output } = one
  const [, verb] = /^[a-z0-9]+\.([a-z][a-z0-9_]{0,31})$/.exec(id) ?? []
  if (verb === undefined || !id.startsWith(`${name}.`)) {
    throw new TypeError(`its operation ${id} is not called ${name}.<verb>`)
  }
  if (!/^\/v1\/[a-z0-9_-]+(\/([a-z0-9_-]+|\{[a-z0-9_]+\}))*$/.test(path)) {
    throw new TypeError(`the path of ${id} is not of the form /v1/${name}/{id}`)
  }
  if (typeof access === 'object' && !isDeclared(access.scope, { ...SPEC_SCOPES, ...scopes })) {
    throw new TypeError(`${id} needs the scope ${access.scope}, which nobody declares`)
  }
  if (access === 'portal' || (typeof access === 'object' && access.portal === true)) {
    throw new TypeError(`${id} cannot be one of the portal: it has keys and webhooks alone`)
  }
  if (isTool(one.agent) && one.agent.default === true) {
    throw new TypeError(`${id} cannot be a tool by default: clients choose the toolset`)
  }
  const known = errorRows([...FAMILIES, { errors } as Family])
  const code = one.errors.find((code) => !Object.hasOwn(known, code))
  if (code !== undefined)
    throw new TypeError(`${id} names the error ${code}, which nobody declares`)
  if (one.effect !== 'bytes' && !output.safeParse(example.response).success) {
    throw new TypeError(`the example response of ${id} does not fit its output`)
  }
}

/** A schema that cannot be described would fail every page of the docs, and every list of tools. */
async function requireDescribable(family: Family): Promise<void> {
  // Loaded for an added family alone.
  const { describeApi } = await import('../openapi/document.ts')
  const { toolsOf } = await import('../agents/tools.ts')
  const rows = errorRows([...FAMILIES, family])
  const descriptions = {
    'OpenAPI document': () => describeApi([family], rows, 'http://127.0.0.1'),
    'list of tools': () => toolsOf([family]).map(({ text }) => text),
  }
  for (const [what, describe] of Object.entries(descriptions)) {
    try {
      describe()
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new TypeError(`its ${what} cannot be built: ${reason}`, { cause })
    }
  }
}

function isDeclared(scope: string, scopes: Family['scopes']): boolean {
  const [family = '', action = ''] = scope.split(':')
  return Object.hasOwn(scopes, family) && scopes[family]?.includes(action) === true
}

function requireOwnNames(family: Family, taken: Taken): void {
  const { name, scopes, events, errors, operations } = family
  const earlier = (at: number): readonly Operation[] => [
    ...taken.operations,
    ...operations.slice(0, at),
  ]
  const clashes: readonly (readonly [what: string, name: string | undefined])[] = [
    ['family', taken.families.some((one) => one.name === name) ? name : undefined],
    ['scope', Object.keys(scopes).find((one) => taken.scopes.has(one))],
    ['event type', events.map(({ type }) => type).find((one) => taken.events.has(one))],
    ['error', Object.keys(errors.rows).find((one) => taken.errors.has(one))],
    ['operation', operations.find((one, at) => earlier(at).some(({ id }) => id === one.id))?.id],
    [
      'operation at',
      operations
        .flatMap((one, at) => earlier(at).filter((other) => isAtOnePath(one, other)))
        .map(({ method, path, id }) => `${method} ${path}, ${id}`)[0],
    ],
    [
      'command',
      operations.flatMap(({ command }) => groupOf(command)).find((one) => taken.commands.has(one)),
    ],
  ]
  const clash = clashes.find(([, found]) => found !== undefined)
  if (clash !== undefined) throw new TypeError(`there is another ${clash[0]} ${String(clash[1])}`)
}

/** Whether some request would match both. */
function isAtOnePath(one: Operation, other: Operation): boolean {
  return other.method === one.method && overlaps(other.path, one.path)
}

function overlaps(a: string, b: string): boolean {
  const [left, right] = [a.split('/'), b.split('/')]
  const isSame = (segment: string, at: number): boolean =>
    segment === right[at] || segment.startsWith('{') || right[at]?.startsWith('{') === true
  return left.length === right.length && left.every(isSame)
}

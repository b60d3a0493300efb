import { httpError } from '../operations/errors.ts'
import { refusedNames } from '../operations/faults.ts'
import { READS } from '../operations/operation.ts'
import type { FieldError } from '../../lib/errors.ts'
import type { ToolSpec } from './tools.ts'
import { withoutArgument } from './tools.ts'

/** The tools that a client chose by the address that it calls. */
export interface Selection {
  /** Their names, as the address gives them. */
  readonly toolsets: readonly string[]
  readonly tools: ReadonlyMap<string, ToolSpec>
  /** Every tool of the address's app, chosen or not; with `read_only` those that read. */
  readonly reach: ReadonlyMap<string, ToolSpec>
  /** Whether the tools that reach every operation were chosen. */
  readonly api: boolean
  readonly readOnly: boolean
  /** Arguments of every tool that takes them. */
  readonly fixed: Readonly<Record<string, string>>
}

const DEFAULT = 'default'
const ALL = 'all'
const API = 'api'
const PARAMETERS = ['toolsets', 'read_only', 'app']
const APP_ID = /^[A-Za-z0-9_-]{1,64}$/

type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads which tools a client wants: `toolsets` (names, `default`, `all`, `api`), `read_only` and `app`, whose
 * tools need no `app_id` then.
 *
 * @returns a function that throws KeyhookError `invalid_request` for an unknown name
 */
export function createSelector(tools: readonly ToolSpec[]): (query: Query) => Selection {
  const toolsets = [...new Set(tools.map(({ use }) => use.toolset))]
  const allowed: readonly string[] = [DEFAULT, ALL, API, ...toolsets]
  const ofAny = reachOf(tools)
  const ofOneApp = reachOf(tools.flatMap(forOneApp))
  return (query) => {
    const { names, readOnly, app } = readQuery(query, allowed)
    const reach = (app === undefined ? ofAny : ofOneApp)[readOnly ? 'reads' : 'all']
    return {
      toolsets: names,
      tools: new Map([...reach].filter(([, tool]) => isChosen(tool, names))),
      reach,
      api: names.includes(API),
      readOnly,
      fixed: app === undefined ? {} : { app_id: app },
    }
  }
}

/** Computed once: an address that chooses few tools may still reach all of them. */
function reachOf(tools: readonly ToolSpec[]): Record<'all' | 'reads', Selection['reach']> {
  const named = tools.map((tool) => [tool.name, tool] as const)
  const reads = named.filter(([, { operation }]) => READS.has(operation.effect))
  return { all: new Map(named), reads: new Map(reads) }
}

function isChosen({ use }: ToolSpec, names: readonly string[]): boolean {
  const isDefault = names.includes(DEFAULT) && use.default === true
  return isDefault || names.includes(ALL) || names.includes(use.toolset)
}

/** Tools of another app, or of no app, are left out. */
function forOneApp(tool: ToolSpec): readonly ToolSpec[] {
  if (tool.operation.path.includes('{app_id}')) return [withoutArgument(tool, 'app_id')]
  return tool.use.toolset === 'discovery' ? [tool] : []
}

interface Chosen {
  readonly names: readonly string[]
  readonly readOnly: boolean
  readonly app: string | undefined
}

function readQuery(query: Query, allowed: readonly string[]): Chosen {
  const unknown = Object.keys(query).filter((name) => !PARAMETERS.includes(name))
  const { toolsets = DEFAULT, read_only = 'false', app } = query
  const names = String(toolsets).split(',')
  const faults = [
    ...refusedNames('query', unknown, PARAMETERS),
    ...names.filter((name) => !allowed.includes(name)).map(() => oneOf('toolsets', allowed)),
    ...(read_only === 'true' || read_only === 'false' ? [] : [oneOf('read_only', BOOLEANS)]),
    ...(app === undefined || isAppId(app) ? [] : [NOT_AN_APP]),
  ]
  if (faults.length > 0) throw httpError('invalid_request', { errors: faults })
  return { names, readOnly: read_only === 'true', app: app === undefined ? undefined : String(app) }
}

const BOOLEANS = ['true', 'false']

function oneOf(name: string, allowed: readonly string[]): FieldError {
  const message = `Allowed: ${allowed.join(', ')}.`
  return { location: `query.${name}`, code: 'invalid_value', message }
}

function isAppId(app: unknown): boolean {
  return typeof app === 'string' && APP_ID.test(app)
}

const NOT_AN_APP: FieldError = {
  location: 'query.app',
  code: 'invalid_format',
  message: 'Name one app by its id.',
}

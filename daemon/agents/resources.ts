/**
 * The reads that are also resources, by addresses that derive from their paths.
 *
 * @module
 */
import type { ResourceContent, WireRecord } from '../operations/agent.ts'
import type { Selection } from './selection.ts'
import type { ToolSpec } from './tools.ts'
import { withoutWaiting } from './tools.ts'

const SCHEME = 'keyhook:/'

/** A read as a resource. */
export interface ResourceSpec {
  readonly tool: ToolSpec
  /** `keyhook://v1/apps/{app_id}/content{?path,revision}` */
  readonly template: string
  /** Whether the template itself is an address: it has no parameters that are required. */
  readonly isPlain: boolean
}

/** An address of a resource as the arguments of its tool. */
export interface FoundResource {
  readonly tool: ToolSpec
  readonly given: Readonly<Record<string, string>>
}

/** Address of the resource of a record, by the record's path. */
export function resourceUri(path: string): string {
  return SCHEME + path
}

/** The resources that an address of tools reaches: those of its app, where it names one. */
export function resourcesOf({ reach, fixed }: Selection): readonly ResourceSpec[] {
  return [...reach.values()]
    .filter(({ use }) => use.resource !== undefined)
    .map((whole) => {
      // Waiting is for tools.
      const tool = withoutWaiting(whole)
      const path = tool.operation.path.replaceAll(
        /\{(\w+)\}/g,
        (braced, name: string) => fixed[name] ?? braced,
      )
      const query = queryOf(tool)
      const names = query.map(({ name }) => name).join()
      return {
        tool,
        template: resourceUri(path) + (names === '' ? '' : `{?${names}}`),
        isPlain: !path.includes('{') && !query.some(({ required }) => required),
      }
    })
}

function queryOf({ args }: ToolSpec): ToolSpec['args'] {
  return args.filter(({ place }) => place === 'query')
}

/** The address of a plain resource. */
export function plainUri({ template }: ResourceSpec): string {
  return template.replace(/\{\?.*\}$/, '')
}

/** Finds what an address reads; undefined for an address of no resource. */
export function findResource(selection: Selection, uri: string): FoundResource | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  const [path = '', query = '', ...more] = uri.slice(SCHEME.length).split('?')
  if (more.length > 0 || uri.includes('#')) return undefined
  for (const { tool } of resourcesOf(selection)) {
    const params = matchPath(tool.operation.path, path)
    if (params === undefined) continue
    const asked = readQuery(query)
    return asked && withoutFixed(selection, tool, params, asked)
  }
  return undefined
}

/** Parameters that the address of the tools gives must be those of the resource's address. */
function withoutFixed(
  { fixed }: Selection,
  tool: ToolSpec,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): FoundResource | undefined {
  const entries = Object.entries(params)
  if (entries.some(([name, value]) => fixed[name] !== undefined && fixed[name] !== value))
    return undefined
  const free = entries.filter(([name]) => fixed[name] === undefined)
  return { tool, given: { ...query, ...Object.fromEntries(free) } }
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const names = pattern.split('/')
  const parts = path.split('/')
  if (names.length !== parts.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, name] of names.entries()) {
    const part = decode(parts[at] ?? '')
    if (part === undefined || part === '') {
      if (name !== '') return undefined
    } else if (name.startsWith('{')) params[name.slice(1, -1)] = part
    else if (name !== part) return undefined
  }
  return params
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Undefined for a name that is given twice. */
function readQuery(text: string): Record<string, string> | undefined {
  const given = [...new URLSearchParams(text)]
  const query = Object.fromEntries(given)
  return Object.keys(query).length === given.length ? query : undefined
}

/** What a resource contains: its response as JSON, unless the operation says otherwise. */
export function contentOf({ use }: ToolSpec, text: string): ResourceContent {
  const { resource } = use
  if (typeof resource !== 'function') return { mimeType: 'application/json', text }
  return resource(JSON.parse(text) as WireRecord) ?? { mimeType: 'application/json', text }
}

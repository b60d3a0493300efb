import type { ToolSpec } from '../../../daemon/agents/tools.ts'
import { formOf } from '../../support/knowledge.ts'
import type { AnyBody, Asking } from '../../support/world.ts'
import type { Ids } from '../operations/planted.ts'

/** What an operation is asked, over any protocol. */
export interface Input {
  readonly name: 'right' | 'foreign' | 'wrong'
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  /** Parts of a multipart body: arguments of a tool as they are. */
  readonly parts: Readonly<Record<string, readonly GivenFile[]>> | undefined
}

interface GivenFile {
  readonly name: string
  readonly content: string
}

/** Bodies that succeed, where the example does not. */
const BODIES: Readonly<Record<string, (ids: Ids) => unknown>> = {
  'keys.create': () => ({ name: 'a key', scopes: ['keys:write'] }),
  'apps.create': () => ({ template_id: 'blank', name: 'made' }),
  'edits.create': () => ({ prompt: 'Add the opening hours' }),
  'files.search': () => ({ query: 'opening hours' }),
  'settings.create_domain': () => ({ hostname: 'another.example.com' }),
  'settings.update_auth': () => ({ signup: 'invite' }),
  'webhooks.create': () => ({ url: 'http://127.0.0.1:9/in', events: ['app.created'] }),
  'webhooks.replay': () => ({ since: '2020-01-01T00:00:00Z', dry_run: true }),
  'webhooks.update': () => ({ description: 'moved' }),
  'events.publish': () => ({ type: 'order.paid', data: { n: 1 } }),
}

/** The inputs of a tool for the records of an account, and for those of another. */
export function inputsOf({ operation, args }: ToolSpec, ids: Ids, foreign: Ids): readonly Input[] {
  const { id, path, example, input } = operation
  const body = input.body === undefined ? undefined : (BODIES[id]?.(ids) ?? example.body)
  // What waits would wait for work that nobody does.
  const waits = args.some(({ name, place }) => name === 'wait' && place === 'query')
  const query = { ...(example.query as Input['query']), ...(waits && { wait: '0' }) }
  const file = { name: 'new.md', content: '# New\n\nnew text\n' }
  const parts = input.parts && { [Object.keys(input.parts)[0] ?? 'file']: [file] }
  const paramsOf = (of: Ids): Input['params'] =>
    Object.fromEntries(
      Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => [name, of[name] ?? 'none']),
    )
  return [
    { name: 'right', params: paramsOf(ids), query, body, parts },
    { name: 'foreign', params: paramsOf(foreign), query, body, parts },
    { name: 'wrong', params: paramsOf(ids), query: { ...query, surprise: '1' }, body, parts },
  ]
}

/** The path of a request of REST. */
export function pathOf({ operation: { path } }: ToolSpec, { params, query }: Input): string {
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const text = new URLSearchParams(query).toString()
  return text === '' ? at : `${at}?${text}`
}

/** The arguments of the tool. */
export function argumentsOf({ args }: ToolSpec, { params, query, body, parts }: Input): AnyBody {
  const isWhole = args.some(({ place }) => place === 'whole')
  const members = isWhole ? { body } : (body as AnyBody | undefined)
  return { ...params, ...query, ...members, ...parts }
}

/** The body of a request of REST. */
export function bodyOf({ body, parts }: Input): Pick<Asking, 'body' | 'form'> {
  if (parts === undefined) return { body }
  const files = Object.values(parts).flatMap((given) =>
    given.map(({ name, content }): [string, string] => [name, content]),
  )
  return { form: formOf(files) }
}

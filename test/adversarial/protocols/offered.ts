import { message, sendMcp } from '../../support/mcp.ts'
import type { AnyBody, World } from '../../support/world.ts'
import type { Ids } from '../operations/planted.ts'

/** A method of MCP, and its result; undefined where the service does not have the method. */
export async function askMcp(
  world: Pick<World, 'baseUrl'>,
  key: string,
  method: string,
  params: AnyBody = {},
): Promise<{ readonly text: string; readonly result: AnyBody | undefined }> {
  const { body, headers } = message(method, params)
  const { text } = await sendMcp(world, key, body, { headers, query: '?toolsets=all' })
  const { result } = JSON.parse(text) as { readonly result?: AnyBody }
  return { text, result }
}

/** Everything that MCP offers beside the calls of tools, as texts: lists, resources, prompts. */
export async function readOffered(
  world: Pick<World, 'baseUrl'>,
  key: string,
  ids: Ids,
): Promise<readonly (readonly [what: string, text: string])[]> {
  const said: (readonly [string, string])[] = []
  const ask = async (method: string, params: AnyBody = {}): Promise<AnyBody> => {
    const { text, result = {} } = await askMcp(world, key, method, params)
    said.push([`${method} ${JSON.stringify(params)}`, text])
    return result
  }
  await ask('server/discover')
  await ask('tools/list')
  const { resources = [] } = (await ask('resources/list')) as Listed
  const { resourceTemplates = [] } = (await ask('resources/templates/list')) as Listed
  const uris = resourceTemplates.map(({ uriTemplate }) => fill(uriTemplate, ids))
  for (const uri of [...resources.map((one) => one.uri), ...uris]) {
    await ask('resources/read', { uri })
  }
  const { prompts = [] } = (await ask('prompts/list')) as Listed
  for (const { name, arguments: declared = [] } of prompts) {
    const given = declared.map((one) => [one.name, ids[one.name] ?? 'a text'])
    await ask('prompts/get', { name, arguments: Object.fromEntries(given) as AnyBody })
  }
  return said
}

interface Listed extends AnyBody {
  readonly resources?: readonly { readonly uri: string }[]
  readonly resourceTemplates?: readonly { readonly uriTemplate: string }[]
  readonly prompts?: readonly {
    readonly name: string
    readonly arguments?: readonly { readonly name: string }[]
  }[]
}

/** `{name}`, `{+name}`; what begins a query or a list is left out. */
function fill(template: string, ids: Ids): string {
  return template.replaceAll(/\{([+?&/]?)([\w,]+)\}/g, (_, kind: string, name: string) => {
    if (kind === '?' || kind === '&') return ''
    return encodeURIComponent(ids[name] ?? VALUES[name] ?? '1')
  })
}

const VALUES: Readonly<Record<string, string>> = { path: 'index.html', revision: '2' }

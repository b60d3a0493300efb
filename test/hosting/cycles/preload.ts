/**
 * Preloaded into a daemon by the harness alone: makes it err towards visitors of apps as a mutant does,
 * which `CYCLES_MUTANT` names. Nothing of this is in the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server } from 'node:http'
import { watchDatabases } from '../../crash/drivers.ts'
import type { Heard } from './mutants.ts'
import { CYCLES_MUTANTS } from './mutants.ts'

const mutant = CYCLES_MUTANTS.find(({ name }) => name === process.env['CYCLES_MUTANT'])
/** What was given last for each address, in each form. */
const lately = new Map<string, Buffer>()

watchDatabases({
  rewrite: (sql) => (mutant?.rewrite === undefined ? sql : sql.replace(...mutant.rewrite)),
  answersEarly: () => false,
  before: () => undefined,
  during: () => undefined,
  after: () => undefined,
  moment: () => undefined,
  cutsBody: () => false,
})

/** As it is called by the product alone. */
type WriteHead = (status: number, headers: readonly string[]) => ServerResponse

type Emit = (this: Server, event: string | symbol, ...input: unknown[]) => boolean

const servers = Server.prototype as unknown as { emit: Emit }
const { emit } = servers
servers.emit = function (event, ...input) {
  const [request, response] = input as [IncomingMessage, ServerResponse]
  if (event === 'request' && request.headers.host?.includes('.localhost') === true) {
    const asked = request as unknown as Heard
    mutant?.hears?.(asked)
    changeHead(response, asked)
    changeBody(response, asked)
  }
  return emit.call(this, event, ...input)
}

function changeHead(response: ServerResponse, asked: Heard): void {
  const heads = mutant?.heads
  if (heads === undefined) return
  const given = response as unknown as { writeHead: WriteHead }
  const writeHead = given.writeHead.bind(response)
  given.writeHead = (status, list) => {
    const headers = new Map<string, string>()
    for (let at = 0; at < list.length; at += 2) {
      headers.set(list[at]?.toLowerCase() ?? '', list[at + 1] ?? '')
    }
    heads(headers, asked)
    return writeHead(status, [...headers].flat())
  }
}

function changeBody(response: ServerResponse, { url, headers }: Heard): void {
  const says = mutant?.says
  if (says === undefined) return
  const end = response.end.bind(response)
  const changed = (body?: unknown): ServerResponse => {
    if (!Buffer.isBuffer(body) || response.statusCode !== 200) return end(body)
    const key = `${url} ${String(headers['accept-encoding'])}`
    const before = lately.get(key) ?? body
    lately.set(key, body)
    return end(says(body, before))
  }
  response.end = changed as ServerResponse['end']
}

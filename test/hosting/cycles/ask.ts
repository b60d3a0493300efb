import type { Agent, IncomingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import { steady } from '../../fleet/steady.ts'

/** One request to the address of an app. */
export interface Question {
  readonly method: 'GET' | 'HEAD'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Instants by the steady clock: right before it was sent, and once all of the answer was there. */
export interface Answer {
  readonly asked: number
  readonly answered: number
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** Longer than anything the listener does in health. */
const PATIENCE = 10_000
/** A connection that was idle may be closed just as it is used again; then another is. */
const TRIES = 3

/** Rejects with what became of it when there is no whole answer. */
export async function ask(agent: Agent, address: Address, question: Question): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const sent = { wasIdle: false }
    try {
      return await askOnce(agent, address, question, sent)
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (!sent.wasIdle || code !== 'ECONNRESET' || tries === TRIES) throw cause
    }
  }
}

function askOnce(
  agent: Agent,
  { host, port }: Address,
  { method, path, headers }: Question,
  sent: { wasIdle: boolean },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = steady()
    let hasBegun = false
    const asking = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        timeout: PATIENCE,
        headers: { host, ...headers },
      },
      (response) => {
        hasBegun = true
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () => {
          const { statusCode: status = 0, headers: given } = response
          const body = Buffer.concat(chunks)
          resolve({ asked, answered: steady(), status, headers: given, body })
        })
        response.once('error', reject)
      },
    )
    asking.once('timeout', () => asking.destroy(new Error('no answer')))
    asking.once('error', (cause) => {
      sent.wasIdle = asking.reusedSocket && !hasBegun
      reject(cause)
    })
    asking.end()
  })
}

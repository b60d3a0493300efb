import { request } from 'node:http'
import { join } from 'node:path'
import { socketPath } from '../../daemon/listener/control-socket.ts'
import type { AnyBody } from './world.ts'

/** Asks a daemon through the socket in its data folder, as the operator. */
export function askControl(
  folder: string,
): (method: string, path: string, body?: unknown) => Promise<AnyBody> {
  const place = socketPath(join(folder, 'control.sock'))
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const asking = request({ socketPath: place, method, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          if ((response.statusCode ?? 500) < 400) resolve(JSON.parse(text) as AnyBody)
          else reject(new Error(`${method} ${path}: ${text}`))
        })
      })
      asking.once('error', reject)
      asking.end(body === undefined ? undefined : JSON.stringify(body))
    })
}

/** A daemon of the packed package, and its API as the operator calls it for an account. */
import { join } from 'node:path'
import type { DaemonProcess, Env } from './daemon.ts'
import { startDaemonProcess } from './daemon.ts'
import { formOf } from './knowledge.ts'

const TOKEN = 'operator-token-of-a-plugin-test-01'

/** @param folder where the package is installed */
export function startPacked(folder: string, data: string, env: Env): Promise<DaemonProcess> {
  const settings = { KEYHOOK_DATA_DIR: data, KEYHOOK_OPERATOR_TOKEN: TOKEN, ...env }
  return startDaemonProcess(settings, join(folder, 'node_modules', 'keyhook'))
}

/** Calls the API as the operator, for an account. */
export function officeOf({ url }: DaemonProcess, account = '') {
  const headers = { authorization: `Bearer ${TOKEN}`, 'keyhook-account': account }
  async function send<Body>(path: string, init: RequestInit = {}): Promise<Body> {
    const given = { ...headers, ...(init.headers as Record<string, string> | undefined) }
    return (await (await fetch(url + path, { ...init, headers: given })).json()) as Body
  }
  return {
    send,
    post: <Body>(path: string, body: object) =>
      send<Body>(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    upload: (app: string, text: string) =>
      send<{ data: readonly { readonly id: string }[] }>(`/v1/apps/${app}/files`, {
        method: 'POST',
        body: formOf([['letter.txt', text]]),
      }),
    content: async (app: string, id: string) =>
      (await fetch(`${url}/v1/apps/${app}/files/${id}/content`, { headers })).text(),
  }
}

import { agentError } from '../agents/errors.ts'
import { pinsOf } from '../authority/principal.ts'
import type { A2aCall } from './call.ts'
import { readJson } from './call.ts'
import type { NamedApp } from './understand.ts'

/** The app of the last task of a context that had one. */
export async function lastApp(
  { platform, principal }: A2aCall,
  contextId: string,
): Promise<string | null> {
  const { rows } = await platform.store.tasks.list({
    key_id: principal.key.id,
    apps: pinsOf(principal),
    context_id: contextId,
    state: null,
    since: null,
    limit: 20,
    after: null,
  })
  return rows.find(({ app_id }) => app_id !== null)?.app_id ?? null
}

/**
 * The live apps of the key; none when it may not list them.
 *
 * @throws KeyhookError `app_required` instead, when they are needed
 */
export async function namedApps(call: A2aCall, isNeeded: boolean): Promise<readonly NamedApp[]> {
  const list = call.agent.operations.find(({ id }) => id === 'apps.list')
  if (list === undefined || !call.allows(list)) {
    if (isNeeded) throw agentError('app_required')
    return []
  }
  const apps: NamedApp[] = []
  let cursor: string | null = null
  do {
    const query: Readonly<Record<string, string>> = {
      limit: '100',
      ...(cursor !== null && { cursor }),
    }
    const page = await readJson(call, { operation: list, query })
    apps.push(...(page['data'] as readonly NamedApp[]))
    cursor = page['has_more'] === true ? (page['next_cursor'] as string) : null
  } while (cursor !== null)
  return apps.map(({ id, name, alias }) => ({ id, name, alias }))
}

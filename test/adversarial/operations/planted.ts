import { ENDLESS_PROMPT } from '../../../plugins/edits/memory.ts'
import { until } from '../../support/daemon.ts'
import { formOf } from '../../support/knowledge.ts'
import type { AnyBody } from '../../support/world.ts'

/** Families whose records hold texts that their owner gave. */
export const PLANTED = [
  'keys',
  'apps',
  'edits',
  'files',
  'deploy',
  'observe',
  'settings',
  'webhooks',
  'events',
  'billing',
] as const

export type Planted = (typeof PLANTED)[number]

/** A text that stands in records of one family alone, so that it tells where an answer came from. */
export type Canary = (family: Planted | 'secrets') => string

/** Ids of planted records, by the name that paths give them. */
export type Ids = Readonly<Record<string, string>>

/** Asks the API as the owner of an account; rejects unless it succeeds. */
export type Ask = (method: string, path: string, body?: AnyBody | FormData) => Promise<AnyBody>

export interface Plot {
  readonly ask: Ask
  /** Where webhooks lead: http://127.0.0.1:<port>. */
  readonly receiver: string
  /** Tells what visitors of an app did; default: there are none. */
  observe?(app_id: string, deployment_id: string): Promise<void>
  /** Grants credit with a note; default: there is none. */
  grant?(note: string): Promise<void>
  /** Keeps an invoice with a number, and returns its id; default: there is none. */
  bill?(number: string): Promise<string>
  /** Sets records of the DNS. */
  resolve?(records: readonly DnsRecord[]): void
}

export interface DnsRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
}

/**
 * Plants one record of every family into an account, each with its family's canary.
 *
 * @param scope of the planted key, so that a key of the same scope may manage it
 */
export async function plant(plot: Plot, canary: Canary, scope: string): Promise<Ids> {
  const { ask, receiver } = plot
  const idOf = async (...asking: Parameters<Ask>): Promise<string> =>
    String((await ask(...asking))['id'])
  const firstOf = async (path: string): Promise<string> => {
    const { data } = (await ask('GET', path)) as { data: readonly { id: string }[] }
    return data[0]?.id ?? 'none'
  }

  const type = 'order.paid'
  await ask('PUT', `/v1/event-types/${type}`, {
    description: canary('events'),
    sample: { note: canary('events') },
  })
  const webhook_id = await idOf('POST', '/v1/webhooks', {
    url: `${receiver}/${canary('webhooks')}`,
    events: ['app.created', 'edit.completed'],
    description: canary('webhooks'),
    headers: { 'X-Token': canary('secrets') },
  })
  await ask('POST', '/v1/webhooks', { url: `${receiver}/declared`, events: [type] })
  const key_id = await idOf('POST', '/v1/keys', { name: canary('keys'), scopes: [scope] })
  const app_id = await idOf('POST', '/v1/apps', { template_id: 'blank', name: canary('apps') })
  const app = `/v1/apps/${app_id}`
  const edit_id = await idOf('POST', `${app}/edits`, {
    operations: [{ op: 'write', path: 'index.html', content: `<p>${canary('apps')}</p>` }],
    base_revision: 1,
    message: canary('edits'),
  })
  const content = `# Hours\n\n${canary('files')} opening hours\n`
  await ask('POST', `${app}/files`, formOf([[`${canary('files')}.md`, content]]))
  const file_id = await firstOf(`${app}/files`)
  await until('the file is processed', async () => {
    const { status } = await ask('GET', `${app}/files/${file_id}`)
    return status === 'processed'
  })
  const deployment_id = await idOf('POST', `${app}/deploy/publish?wait=25`, {
    message: canary('deploy'),
  })
  const domain_id = await idOf('POST', `${app}/settings/domains`, {
    hostname: `${canary('settings')}.example.com`,
  })
  const service = 'mail'
  await ask('PUT', `${app}/settings/services/${service}`, {
    kind: 'email',
    config: { region: canary('settings') },
    secrets: { PASSWORD: canary('secrets') },
  })
  await plot.observe?.(app_id, deployment_id)
  await plot.grant?.(canary('billing'))
  const invoice_id = (await plot.bill?.(canary('billing'))) ?? 'none'
  const event_id = await idOf('POST', '/v1/events', { type, data: { note: canary('events') } })
  return {
    app_id,
    delivery_id: await firstOf(`/v1/webhooks/${webhook_id}/deliveries`),
    deployment_id,
    domain_id,
    edit_id,
    error_id: await firstOf(`${app}/errors`),
    event_id,
    file_id,
    invoice_id,
    key_id,
    service,
    type,
    webhook_id,
  }
}

/** Who calls an operation, and the ids of the records that it is called for. */
export interface Caller {
  readonly ids: Ids
  readonly key_id: string
  readonly key: string
}

/** An app with a file of this name is built until the deployment is canceled. */
export const HELD_FILE = 'held.txt'

/** Leads an account into a state; answers what it changed of the caller. */
type State = (plot: Plot, canary: Canary, caller: Caller) => Promise<Partial<Caller>>

/** States that operations need, by their ids; the others succeed for what `plant` plants. */
export const STATES: Readonly<Record<string, State>> = {
  async 'apps.restore'({ ask }, _, { ids }) {
    await ask('DELETE', appOf(ids))
    return {}
  },
  async 'deploy.cancel'({ ask }, canary, { ids }) {
    await write(ask, ids, HELD_FILE)
    const body = { message: canary('deploy') }
    const { id } = await ask('POST', `${appOf(ids)}/deploy/publish`, body)
    return { ids: { ...ids, deployment_id: String(id) } }
  },
  async 'deploy.rollback'({ ask }, canary, { ids }) {
    await write(ask, ids, 'another.txt')
    await ask('POST', `${appOf(ids)}/deploy/publish?wait=25`, { message: canary('deploy') })
    return {}
  },
  async 'edits.cancel'({ ask }, canary, { ids }) {
    const body = { prompt: ENDLESS_PROMPT, message: canary('edits') }
    const { id } = await ask('POST', `${appOf(ids)}/edits`, body)
    return { ids: { ...ids, edit_id: String(id) } }
  },
  async 'files.retry'({ ask }, canary, { ids }) {
    const form = formOf([[`${canary('files')}-blank.md`, '\n']])
    const { data } = (await ask('POST', `${appOf(ids)}/files`, form)) as { data: { id: string }[] }
    const file_id = data[0]?.id ?? 'none'
    await until('the file has failed', async () => {
      const { status } = await ask('GET', `${appOf(ids)}/files/${file_id}`)
      return status === 'failed'
    })
    return { ids: { ...ids, file_id } }
  },
  async 'keys.end_previous'({ ask }, _, { key_id }) {
    const { key } = await ask('POST', `/v1/keys/${key_id}/rotate`, {})
    return { key: String(key) }
  },
  async 'settings.update_domain'({ ask, resolve }, _, { ids }) {
    // No other account can have it once it is verified, and the event names it: it identifies the domain.
    const hostname = 'verified.example.com'
    const domains = `${appOf(ids)}/settings/domains`
    const made = await ask('POST', domains, { hostname })
    resolve?.(made['records'] as readonly DnsRecord[])
    const domain_id = String(made['id'])
    await ask('POST', `${domains}/${domain_id}/verify`)
    return { ids: { ...ids, domain_id } }
  },
}

function appOf(ids: Ids): string {
  return `/v1/apps/${ids['app_id']}`
}

async function write(ask: Ask, ids: Ids, path: string): Promise<void> {
  const operations = [{ op: 'write', path, content: 'more' }]
  await ask('POST', `${appOf(ids)}/edits`, { operations, base_revision: 2 })
}

/** Written from the operations by `npm run docs`. */
import type { accountsFamily } from '../families/accounts/family.ts'
import type { appsFamily } from '../families/apps/family.ts'
import type { auditFamily } from '../families/audit/family.ts'
import type { billingFamily } from '../families/billing/family.ts'
import type { deployFamily } from '../families/deploy/family.ts'
import type { discoveryFamily } from '../families/discovery/family.ts'
import type { editsFamily } from '../families/edits/family.ts'
import type { eventsFamily } from '../families/events/family.ts'
import type { filesFamily } from '../families/files/family.ts'
import type { keysFamily } from '../families/keys/family.ts'
import type { observeFamily } from '../families/observe/family.ts'
import type { operatorFamily } from '../families/operator/family.ts'
import type { portalFamily } from '../families/portal/family.ts'
import type { sealsFamily } from '../families/seals/family.ts'
import type { sendingFamily } from '../families/sending/family.ts'
import type { settingsFamily } from '../families/settings/family.ts'
import type { webhooksFamily } from '../families/webhooks/family.ts'
import type { RouteOf } from './route.ts'
import type { OperationsOf } from './types.ts'

interface Families {
  readonly accounts: typeof accountsFamily
  readonly apps: typeof appsFamily
  readonly audit: typeof auditFamily
  readonly billing: typeof billingFamily
  readonly deploy: typeof deployFamily
  readonly discovery: typeof discoveryFamily
  readonly edits: typeof editsFamily
  readonly events: typeof eventsFamily
  readonly files: typeof filesFamily
  readonly keys: typeof keysFamily
  readonly observe: typeof observeFamily
  readonly operator: typeof operatorFamily
  readonly portal: typeof portalFamily
  readonly seals: typeof sealsFamily
  readonly sending: typeof sendingFamily
  readonly settings: typeof settingsFamily
  readonly webhooks: typeof webhooksFamily
}

/** The operations of the service. */
export type Served = OperationsOf<Families[keyof Families]>

export const ROUTES: readonly RouteOf<Served>[] = [
  {
    id: 'keys.list',
    method: 'GET',
    path: '/v1/keys',
    query: ['limit', 'cursor', 'status'],
    list: true,
  },
  { id: 'keys.create', method: 'POST', path: '/v1/keys', body: 'required' },
  { id: 'keys.self', method: 'GET', path: '/v1/keys/self' },
  { id: 'keys.verify', method: 'POST', path: '/v1/keys/verify', body: 'required' },
  { id: 'keys.verify_batch', method: 'POST', path: '/v1/keys/verify/batch', body: 'required' },
  { id: 'keys.renew_cache', method: 'POST', path: '/v1/keys/caches', body: 'required' },
  { id: 'keys.end_cache', method: 'DELETE', path: '/v1/keys/caches', query: ['cache_id'] },
  { id: 'keys.get', method: 'GET', path: '/v1/keys/{key_id}' },
  {
    id: 'keys.update',
    method: 'PATCH',
    path: '/v1/keys/{key_id}',
    query: ['webhooks'],
    body: 'required',
  },
  { id: 'keys.rotate', method: 'POST', path: '/v1/keys/{key_id}/rotate', body: 'optional' },
  { id: 'keys.end_previous', method: 'DELETE', path: '/v1/keys/{key_id}/previous' },
  {
    id: 'keys.revoke',
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    query: ['webhooks', 'dry_run'],
  },
  {
    id: 'apps.list',
    method: 'GET',
    path: '/v1/apps',
    query: ['limit', 'cursor', 'status', 'alias', 'include_archived'],
    list: true,
  },
  {
    id: 'apps.create',
    method: 'POST',
    path: '/v1/apps',
    query: ['wait', 'dry_run'],
    body: 'required',
  },
  { id: 'apps.get', method: 'GET', path: '/v1/apps/{app_id}' },
  { id: 'apps.update', method: 'PATCH', path: '/v1/apps/{app_id}', body: 'required' },
  { id: 'apps.archive', method: 'DELETE', path: '/v1/apps/{app_id}' },
  { id: 'apps.restore', method: 'POST', path: '/v1/apps/{app_id}/restore', body: 'optional' },
  { id: 'apps.clone', method: 'POST', path: '/v1/apps/{app_id}/clone', body: 'optional' },
  {
    id: 'apps.revisions',
    method: 'GET',
    path: '/v1/apps/{app_id}/revisions',
    query: ['limit', 'cursor'],
    list: true,
  },
  { id: 'apps.tree', method: 'GET', path: '/v1/apps/{app_id}/tree', query: ['revision'] },
  {
    id: 'apps.content',
    method: 'GET',
    path: '/v1/apps/{app_id}/content',
    query: ['path', 'revision'],
  },
  {
    id: 'apps.hosting_usage',
    method: 'GET',
    path: '/v1/apps/{app_id}/hosting-usage',
    query: ['month'],
  },
  { id: 'apps.templates', method: 'GET', path: '/v1/templates' },
  {
    id: 'edits.list',
    method: 'GET',
    path: '/v1/apps/{app_id}/edits',
    query: ['limit', 'cursor', 'status', 'kind', 'initial'],
    list: true,
  },
  {
    id: 'edits.create',
    method: 'POST',
    path: '/v1/apps/{app_id}/edits',
    query: ['wait', 'dry_run'],
    body: 'required',
  },
  { id: 'edits.get', method: 'GET', path: '/v1/apps/{app_id}/edits/{edit_id}' },
  {
    id: 'edits.status',
    method: 'GET',
    path: '/v1/apps/{app_id}/edits/{edit_id}/status',
    query: ['wait'],
  },
  {
    id: 'edits.logs',
    method: 'GET',
    path: '/v1/apps/{app_id}/edits/{edit_id}/logs',
    query: ['limit', 'cursor'],
    list: true,
  },
  {
    id: 'edits.cancel',
    method: 'POST',
    path: '/v1/apps/{app_id}/edits/{edit_id}/cancel',
    body: 'optional',
  },
  {
    id: 'edits.revert',
    method: 'POST',
    path: '/v1/apps/{app_id}/edits/{edit_id}/revert',
    body: 'optional',
  },
  {
    id: 'edits.diff',
    method: 'GET',
    path: '/v1/apps/{app_id}/edits/{edit_id}/diff',
    query: ['path'],
  },
  {
    id: 'edits.compare',
    method: 'GET',
    path: '/v1/apps/{app_id}/diff',
    query: ['from', 'to', 'path'],
  },
  {
    id: 'edits.restore_revision',
    method: 'POST',
    path: '/v1/apps/{app_id}/restore-revision',
    body: 'required',
  },
  {
    id: 'files.list',
    method: 'GET',
    path: '/v1/apps/{app_id}/files',
    query: ['limit', 'cursor', 'status', 'content_type'],
    list: true,
  },
  {
    id: 'files.upload',
    method: 'POST',
    path: '/v1/apps/{app_id}/files',
    query: ['dry_run'],
    parts: ['file'],
  },
  { id: 'files.search', method: 'POST', path: '/v1/apps/{app_id}/files/search', body: 'required' },
  { id: 'files.get', method: 'GET', path: '/v1/apps/{app_id}/files/{file_id}' },
  { id: 'files.delete', method: 'DELETE', path: '/v1/apps/{app_id}/files/{file_id}' },
  {
    id: 'files.retry',
    method: 'POST',
    path: '/v1/apps/{app_id}/files/{file_id}/retry',
    query: ['dry_run'],
    body: 'optional',
  },
  {
    id: 'files.content',
    method: 'GET',
    path: '/v1/apps/{app_id}/files/{file_id}/content',
    bytes: true,
  },
  {
    id: 'deploy.publish',
    method: 'POST',
    path: '/v1/apps/{app_id}/deploy/publish',
    query: ['wait'],
    body: 'optional',
  },
  {
    id: 'deploy.unpublish',
    method: 'POST',
    path: '/v1/apps/{app_id}/deploy/unpublish',
    body: 'optional',
  },
  {
    id: 'deploy.rollback',
    method: 'POST',
    path: '/v1/apps/{app_id}/deploy/rollback',
    query: ['wait'],
    body: 'optional',
  },
  { id: 'deploy.status', method: 'GET', path: '/v1/apps/{app_id}/deploy/status' },
  {
    id: 'deploy.list',
    method: 'GET',
    path: '/v1/apps/{app_id}/deployments',
    query: ['limit', 'cursor', 'status', 'kind', 'include'],
    list: true,
  },
  {
    id: 'deploy.get',
    method: 'GET',
    path: '/v1/apps/{app_id}/deployments/{deployment_id}',
    query: ['wait'],
  },
  {
    id: 'deploy.logs',
    method: 'GET',
    path: '/v1/apps/{app_id}/deployments/{deployment_id}/logs',
    query: ['limit', 'cursor'],
    list: true,
  },
  {
    id: 'deploy.cancel',
    method: 'POST',
    path: '/v1/apps/{app_id}/deployments/{deployment_id}/cancel',
    body: 'optional',
  },
  {
    id: 'observe.logs',
    method: 'GET',
    path: '/v1/apps/{app_id}/logs',
    query: ['limit', 'cursor', 'source', 'env', 'status', 'since', 'until', 'q', 'deployment_id'],
    list: true,
  },
  {
    id: 'observe.errors',
    method: 'GET',
    path: '/v1/apps/{app_id}/errors',
    query: ['limit', 'cursor', 'status', 'env', 'since', 'q'],
    list: true,
  },
  { id: 'observe.get_error', method: 'GET', path: '/v1/apps/{app_id}/errors/{error_id}' },
  {
    id: 'observe.resolve_error',
    method: 'POST',
    path: '/v1/apps/{app_id}/errors/{error_id}/resolve',
    body: 'optional',
  },
  { id: 'observe.health', method: 'GET', path: '/v1/apps/{app_id}/health', query: ['env'] },
  {
    id: 'settings.list_domains',
    method: 'GET',
    path: '/v1/apps/{app_id}/settings/domains',
    query: ['limit', 'cursor'],
    list: true,
  },
  {
    id: 'settings.create_domain',
    method: 'POST',
    path: '/v1/apps/{app_id}/settings/domains',
    body: 'required',
  },
  {
    id: 'settings.get_domain',
    method: 'GET',
    path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  },
  {
    id: 'settings.update_domain',
    method: 'PATCH',
    path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
    body: 'required',
  },
  {
    id: 'settings.delete_domain',
    method: 'DELETE',
    path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  },
  {
    id: 'settings.verify_domain',
    method: 'POST',
    path: '/v1/apps/{app_id}/settings/domains/{domain_id}/verify',
    body: 'optional',
  },
  {
    id: 'settings.list_services',
    method: 'GET',
    path: '/v1/apps/{app_id}/settings/services',
    query: ['limit', 'cursor'],
    list: true,
  },
  {
    id: 'settings.put_service',
    method: 'PUT',
    path: '/v1/apps/{app_id}/settings/services/{service}',
    body: 'required',
  },
  {
    id: 'settings.get_service',
    method: 'GET',
    path: '/v1/apps/{app_id}/settings/services/{service}',
  },
  {
    id: 'settings.delete_service',
    method: 'DELETE',
    path: '/v1/apps/{app_id}/settings/services/{service}',
  },
  { id: 'settings.get_auth', method: 'GET', path: '/v1/apps/{app_id}/settings/auth' },
  {
    id: 'settings.update_auth',
    method: 'PATCH',
    path: '/v1/apps/{app_id}/settings/auth',
    body: 'required',
  },
  {
    id: 'webhooks.list',
    method: 'GET',
    path: '/v1/webhooks',
    query: ['limit', 'cursor', 'status'],
    list: true,
  },
  { id: 'webhooks.create', method: 'POST', path: '/v1/webhooks', body: 'required' },
  { id: 'webhooks.get', method: 'GET', path: '/v1/webhooks/{webhook_id}' },
  { id: 'webhooks.update', method: 'PATCH', path: '/v1/webhooks/{webhook_id}', body: 'required' },
  { id: 'webhooks.delete', method: 'DELETE', path: '/v1/webhooks/{webhook_id}' },
  { id: 'webhooks.test', method: 'POST', path: '/v1/webhooks/{webhook_id}/test', body: 'optional' },
  {
    id: 'webhooks.rotate_secret',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/rotate-secret',
    body: 'optional',
  },
  {
    id: 'webhooks.retry_failed',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/retry-failed',
    body: 'required',
  },
  {
    id: 'webhooks.replay',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/replay',
    body: 'required',
  },
  {
    id: 'webhooks.list_deliveries',
    method: 'GET',
    path: '/v1/webhooks/{webhook_id}/deliveries',
    query: ['limit', 'cursor', 'status', 'event_type', 'event_id'],
    list: true,
  },
  {
    id: 'webhooks.get_delivery',
    method: 'GET',
    path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
  },
  {
    id: 'webhooks.retry_delivery',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
    body: 'optional',
  },
  { id: 'events.publish', method: 'POST', path: '/v1/events', body: 'required' },
  { id: 'events.publish_batch', method: 'POST', path: '/v1/events/batch', body: 'required' },
  {
    id: 'events.list',
    method: 'GET',
    path: '/v1/events',
    query: ['limit', 'cursor', 'type', 'app_id', 'since', 'until', 'order', 'after'],
    list: true,
  },
  { id: 'events.get', method: 'GET', path: '/v1/events/{event_id}' },
  {
    id: 'events.explain',
    method: 'GET',
    path: '/v1/events/{event_id}/explain',
    query: ['limit', 'cursor'],
    list: true,
  },
  { id: 'events.declare_type', method: 'PUT', path: '/v1/event-types/{type}', body: 'optional' },
  {
    id: 'events.list_types',
    method: 'GET',
    path: '/v1/event-types',
    query: ['limit', 'cursor', 'fields'],
    list: true,
  },
  { id: 'accounts.sign_in', method: 'POST', path: '/v1/session', body: 'required', once: true },
  { id: 'accounts.step_up', method: 'POST', path: '/v1/session/step-up', body: 'required' },
  { id: 'accounts.session', method: 'GET', path: '/v1/session' },
  { id: 'accounts.sign_out', method: 'DELETE', path: '/v1/session' },
  { id: 'accounts.list_sessions', method: 'GET', path: '/v1/sessions' },
  { id: 'accounts.end_session', method: 'DELETE', path: '/v1/sessions/{session_id}' },
  { id: 'accounts.end_other_sessions', method: 'DELETE', path: '/v1/sessions' },
  {
    id: 'accounts.list_members',
    method: 'GET',
    path: '/v1/members',
    query: ['limit', 'cursor'],
    list: true,
  },
  { id: 'accounts.set_up', method: 'POST', path: '/v1/setup', body: 'required', once: true },
  {
    id: 'accounts.list',
    method: 'GET',
    path: '/v1/accounts',
    query: ['limit', 'cursor'],
    list: true,
  },
  { id: 'accounts.create', method: 'POST', path: '/v1/accounts', body: 'required' },
  { id: 'accounts.get', method: 'GET', path: '/v1/accounts/{account_id}' },
  { id: 'accounts.update', method: 'PATCH', path: '/v1/accounts/{account_id}', body: 'required' },
  { id: 'accounts.create_user', method: 'POST', path: '/v1/users', body: 'required' },
  {
    id: 'accounts.reset_password',
    method: 'POST',
    path: '/v1/users/reset-password',
    body: 'required',
  },
  { id: 'accounts.set_plan', method: 'POST', path: '/v1/users/plan', body: 'required' },
  { id: 'accounts.suspend', method: 'POST', path: '/v1/accounts/{account_id}/suspend' },
  { id: 'accounts.resume', method: 'POST', path: '/v1/accounts/{account_id}/resume' },
  { id: 'billing.wallet', method: 'GET', path: '/v1/billing/wallet' },
  { id: 'billing.update_wallet', method: 'PATCH', path: '/v1/billing/wallet', body: 'required' },
  {
    id: 'billing.ledger',
    method: 'GET',
    path: '/v1/billing/ledger',
    query: ['limit', 'cursor', 'kind', 'app_id', 'key_id', 'from', 'to'],
    list: true,
  },
  { id: 'billing.verify', method: 'GET', path: '/v1/billing/ledger/verify' },
  { id: 'billing.limits', method: 'GET', path: '/v1/billing/limits' },
  {
    id: 'billing.usage',
    method: 'GET',
    path: '/v1/billing/usage',
    query: ['limit', 'cursor', 'from', 'to', 'group_by'],
    list: true,
  },
  { id: 'billing.pricing', method: 'GET', path: '/v1/billing/pricing' },
  { id: 'billing.grant', method: 'POST', path: '/v1/billing/credits', body: 'required' },
  { id: 'billing.revoke', method: 'POST', path: '/v1/billing/credits/{credit_id}/revoke' },
  { id: 'billing.topup', method: 'POST', path: '/v1/billing/topup', body: 'required' },
  { id: 'billing.subscribe', method: 'POST', path: '/v1/billing/subscribe', body: 'required' },
  {
    id: 'billing.payment_method',
    method: 'POST',
    path: '/v1/billing/payment-method',
    body: 'required',
  },
  { id: 'billing.cancel', method: 'DELETE', path: '/v1/billing/subscription' },
  { id: 'billing.portal', method: 'POST', path: '/v1/billing/portal', body: 'required' },
  {
    id: 'billing.invoices',
    method: 'GET',
    path: '/v1/billing/invoices',
    query: ['limit', 'cursor', 'status'],
    list: true,
  },
  { id: 'billing.invoice', method: 'GET', path: '/v1/billing/invoices/{invoice_id}' },
  { id: 'billing.processor', method: 'GET', path: '/v1/billing/processor' },
  {
    id: 'audit.list',
    method: 'GET',
    path: '/v1/audit-log',
    query: ['limit', 'cursor', 'action', 'actor_id', 'target_id'],
    list: true,
  },
  { id: 'discovery.show', method: 'GET', path: '/v1/discovery' },
  { id: 'discovery.services', method: 'GET', path: '/v1/discovery/services' },
  { id: 'discovery.agent_card', method: 'GET', path: '/v1/discovery/agent-card' },
  { id: 'seals.status', method: 'GET', path: '/v1/master-keys' },
  { id: 'sending.status', method: 'GET', path: '/v1/sending' },
  { id: 'sending.resume', method: 'POST', path: '/v1/sending/resume' },
  {
    id: 'operator.sign_in',
    method: 'POST',
    path: '/v1/operator/session',
    body: 'required',
    once: true,
  },
  { id: 'operator.session', method: 'GET', path: '/v1/operator/session' },
  { id: 'operator.sign_out', method: 'DELETE', path: '/v1/operator/session' },
  { id: 'operator.status', method: 'GET', path: '/v1/operator/status' },
  { id: 'operator.settings', method: 'GET', path: '/v1/operator/settings' },
  {
    id: 'operator.audit',
    method: 'GET',
    path: '/v1/operator/audit-log',
    query: ['limit', 'cursor', 'action', 'actor_id', 'target_id'],
    list: true,
  },
  {
    id: 'portal.create_link',
    method: 'POST',
    path: '/v1/accounts/{account_id}/portal-links',
    body: 'optional',
  },
  {
    id: 'portal.end_sessions',
    method: 'DELETE',
    path: '/v1/accounts/{account_id}/portal-sessions',
  },
  { id: 'portal.open', method: 'POST', path: '/v1/portal/session', body: 'required', once: true },
  { id: 'portal.session', method: 'GET', path: '/v1/portal/session' },
  { id: 'portal.sign_out', method: 'DELETE', path: '/v1/portal/session' },
]

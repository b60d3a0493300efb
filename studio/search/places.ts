import type { IconName } from '../parts/icon.tsx'
import type { Choice } from './choice.ts'
import { rankOf } from './choice.ts'

/** A page of the rail: its name, address and icon. */
export type Place = readonly [name: string, to: string, icon: IconName]

/** Pages that the rail does not show. */
const BELOW: readonly Place[] = [
  ['Ledger', '/billing/ledger', 'billing'],
  ['Invoices', '/billing/invoices', 'billing'],
  ['Members', '/settings', 'user'],
  ['Sessions', '/sessions', 'user'],
]

const ACTIONS: readonly Place[] = [
  ['Create app', '/apps/new', 'apps'],
  ['Create key', '/keys/new', 'keys'],
  ['Add webhook', '/webhooks/new', 'webhooks'],
]

/** An event type has a dot in it, as `order.paid`. */
const EVENT_TYPE = /^\w+(?:\.\w+)+$/

const asChoice =
  (group: string) =>
  ([name, to, icon]: Place): Choice => ({ key: `${group} ${name}`, group, name, to, icon })

/** Pages and actions whose name matches, and a search of events where the text looks like a type. */
export function placesFor(text: string, rail: readonly Place[]): readonly Choice[] {
  const all = [
    ...[...rail, ...BELOW].map(asChoice('Pages')),
    ...ACTIONS.map(asChoice('Actions')),
  ].filter(({ name }) => text === '' || rankOf([name], text) !== undefined)
  if (!EVENT_TYPE.test(text)) return all
  const ofType: Choice = {
    key: 'events by type',
    group: 'Actions',
    name: `Show events of the type ${text}`,
    icon: 'events',
    to: '/events',
    search: { type: text },
  }
  return [...all, ofType]
}

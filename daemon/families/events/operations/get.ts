import { z } from 'zod'
import { holdsApp } from '../../../../lib/grant/authority.ts'
import { operation } from '../../../operations/operation.ts'
import type { Principal } from '../../../authority/principal.ts'
import { accountOf } from '../../../authority/principal.ts'
import { plainText } from '../../wire.ts'
import { eventError } from '../errors.ts'
import { eventRecord, exampleEvent, toWireEvent } from '../schema.ts'

export const getEvent = operation({
  effect: 'read',
  id: 'events.get',
  summary: 'Show one event',
  method: 'GET',
  path: '/v1/events/{event_id}',
  access: { scope: 'events:read', pinned: 'allowed' },
  emits: ['events'],
  input: { params: z.strictObject({ event_id: plainText }) },
  output: eventRecord,
  errors: ['event_not_found'],
  example: { params: { event_id: exampleEvent.id }, response: exampleEvent },
  command: 'event get',
  async run({ platform, principal, params }) {
    const event = await platform.store.events.get(accountOf(principal), params.event_id)
    if (event === undefined || !isVisible(event.app_id, principal)) {
      throw eventError('event_not_found')
    }
    return toWireEvent(event, platform.eventPositions)
  },
})

/** A pinned key sees the events of its own apps, and none that belong to no app. */
function isVisible(appId: string | null, { authority }: Principal): boolean {
  return authority.pins === 'all' || (appId !== null && holdsApp(authority.pins, appId))
}

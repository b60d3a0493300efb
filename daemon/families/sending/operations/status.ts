import { z } from 'zod'
import type { EngineStore } from '../../../../lib/engine/ports.ts'
import { operation } from '../../../operations/operation.ts'
import type { PauseReads } from '../../../sending/paused.ts'
import { findPause } from '../../../sending/paused.ts'

export const sendingRecord = z
  .strictObject({
    status: z.enum(['active', 'paused']).meta({
      description: 'paused: nothing is delivered since this database was restored from a backup.',
    }),
    waiting_webhooks: z
      .int()
      .meta({ description: 'Webhooks with unfinished deliveries; 0 while sending is active.' }),
  })
  .meta({ id: 'Sending' })

export const sendingStatus = operation({
  effect: 'read',
  id: 'sending.status',
  summary: 'Show whether deliveries are sent, or held back since a backup was restored',
  method: 'GET',
  path: '/v1/sending',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['sending'],
  input: {},
  output: sendingRecord,
  errors: ['operator_required'],
  example: { response: { status: 'paused', waiting_webhooks: 2 } },
  command: 'sending status',
  run: ({ platform }) => describeSending(platform.store),
})

export async function describeSending(
  store: PauseReads & Pick<EngineStore, 'queueHeads'>,
): Promise<z.input<typeof sendingRecord>> {
  if ((await findPause(store)) === undefined) return { status: 'active', waiting_webhooks: 0 }
  return { status: 'paused', waiting_webhooks: (await store.queueHeads()).length }
}

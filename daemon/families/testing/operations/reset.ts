import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'

export const resetAll = (reset: () => Promise<void>) =>
  operation({
    // An `Idempotency-Key` would be recorded in what this removes.
    effect: 'read',
    id: 'testing.reset',
    summary: 'Remove everything of a test, and set its clock to the time of the machine',
    method: 'POST',
    path: '/v1/test/reset',
    access: 'operator',
    agent: { omit: 'Of a test.' },
    emits: ['testing'],
    input: {},
    output: z.strictObject({}),
    errors: ['operator_required'],
    example: { response: {} },
    async run() {
      await reset()
      return {}
    },
  })

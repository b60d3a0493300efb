import { z } from 'zod'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { settingInForce } from '../schema.ts'

export const listSettings = operation({
  effect: 'read',
  id: 'operator.settings',
  summary: 'List the settings in force and where each comes from; never the value of a secret',
  method: 'GET',
  path: '/v1/operator/settings',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['operator'],
  input: {},
  output: z.strictObject({ data: z.array(settingInForce) }),
  errors: ['operator_required', 'capability_unavailable'],
  example: {
    response: {
      data: [
        {
          name: 'KEYHOOK_OPERATOR_TOKEN',
          source: 'file',
          value: null,
          secret: true,
          doc: 'Token of the operator.',
        },
      ],
    },
  },
  run({ platform: { operating } }) {
    if (operating === undefined) throw httpError('capability_unavailable')
    return Promise.resolve({ data: operating.settings().map((setting) => ({ ...setting })) })
  },
})

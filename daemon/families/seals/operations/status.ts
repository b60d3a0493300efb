import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { instant, isoOrNull } from '../../wire.ts'
import { masterKeyStatuses } from '../key-status.ts'

const masterKey = z
  .strictObject({
    id: z.string(),
    status: z.enum(['current', 'needed', 'remembered', 'removable', 'missing']).meta({
      description:
        'current: encrypts new secrets; needed: still encrypts some; remembered: idempotency ' +
        'records use it; removable: nothing needs it; missing: needed, but not configured.',
    }),
    sealed: z.int().meta({ description: 'Secrets encrypted with this key.' }),
    remembered_until: instant.nullable().meta({
      description: 'Expiry of the last idempotency record that uses this key.',
    }),
  })
  .meta({ id: 'MasterKey' })

export const masterKeyStatus = operation({
  effect: 'read',
  id: 'seals.status',
  summary: 'Show what each master key encrypts, and which keys can be removed',
  method: 'GET',
  path: '/v1/master-keys',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['seals'],
  input: {},
  output: z.strictObject({ data: z.array(masterKey) }),
  errors: ['operator_required'],
  example: {
    response: {
      data: [
        { id: 'k2', status: 'current', sealed: 41, remembered_until: null },
        { id: 'k1', status: 'removable', sealed: 0, remembered_until: null },
      ],
    },
  },
  command: 'master-key status',
  async run({ platform: { store, keyring }, now }) {
    const keys = masterKeyStatuses(keyring, await store.encryptedSecrets.count(now))
    return {
      data: keys.map(({ remembered_until, ...key }) => ({
        ...key,
        remembered_until: isoOrNull(remembered_until),
      })),
    }
  },
})

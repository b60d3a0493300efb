import { z } from 'zod'
import { readOperation } from '../../../operations/family.ts'
import { instant, isoOrNull } from '../../wire.ts'
import { standingsOf } from '../standing.ts'

const masterKey = z
  .strictObject({
    id: z.string(),
    status: z.enum(['current', 'needed', 'remembered', 'removable', 'missing']).meta({
      description:
        'current: seals what is new; needed: something is sealed under it still; remembered: kept ' +
        'answers are known by it; removable: nothing needs it; missing: needed, but not given.',
    }),
    sealed: z.int().meta({ description: 'Texts that are sealed under it.' }),
    remembered_until: instant.nullable().meta({
      description: 'When the last answer to an idempotent request ends that is known by it.',
    }),
  })
  .meta({ id: 'MasterKey' })

export const masterKeyStatus = readOperation({
  id: 'seals.status',
  summary: 'Show what is sealed under which master key, and which may be removed',
  method: 'GET',
  path: '/v1/master-keys',
  access: 'operator',
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
    const standings = standingsOf(keyring, await store.seals.count(now))
    return {
      data: standings.map(({ remembered_until, ...standing }) => ({
        ...standing,
        remembered_until: isoOrNull(remembered_until),
      })),
    }
  },
})

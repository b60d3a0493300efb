import { defineFamily } from '../../operations/family.ts'
import { keyError } from './errors.ts'
import { endCache, followCache, renewCache } from './operations/caches.ts'
import { createKey } from './operations/create.ts'
import { endPreviousValue } from './operations/end-previous.ts'
import { getKey, listKeys, getOwnKey } from './operations/read.ts'
import { revokeKey } from './operations/revoke.ts'
import { rotateKey } from './operations/rotate.ts'
import { updateKey } from './operations/update.ts'
import { verifyBatch, verifyKeys } from './operations/verify.ts'

/** Developer keys: scoped, pinned, delegated as a subset, rotated, revoked at once. */
export const keysFamily = defineFamily({
  name: 'keys',
  scopes: { keys: ['read', 'write'] },
  events: [],
  errors: keyError,
  operations: [
    listKeys,
    createKey,
    getOwnKey,
    verifyKeys,
    verifyBatch,
    renewCache,
    followCache,
    endCache,
    getKey,
    updateKey,
    rotateKey,
    endPreviousValue,
    revokeKey,
  ],
})

import { defineErrors } from '../../../lib/errors.ts'
import { MAX_CACHES } from '../../../lib/engine/key-caches.ts'
import { MAX_LIVE_SECRETS } from '../../../lib/key/lifecycle.ts'

export const keyError = defineErrors({
  key_not_found: {
    status: 404,
    text: 'No key with this id is visible to you. A key is named by its id, not by its name or value; GET /v1/keys lists the ids.',
  },
  key_limit_reached: {
    status: 409,
    text: "The account has reached its limit of live keys. Revoke one first, or ask the operator to raise the account's key_limit.",
  },
  key_cache_limit_reached: {
    status: 409,
    text: `${MAX_CACHES} other caches hold a lease. End one with DELETE /v1/keys/caches, or wait two seconds after its last renewal.`,
  },
  dev_api_not_enabled: {
    status: 403,
    text: 'Developer keys can be created on the Pro plan. Existing keys keep working.',
  },
  expiry_extension_forbidden: {
    status: 403,
    text: 'A key may shorten its own expiry, never extend it.',
  },
  no_previous_value: { status: 409, text: 'The key has no previous value that still works.' },
  rotation_limit_reached: {
    status: 409,
    text: `The key has ${MAX_LIVE_SECRETS} values that still work. End the previous ones with DELETE /v1/keys/{key_id}/previous, or rotate with grace_seconds 0.`,
  },
  rotation_conflict: {
    status: 409,
    text: 'The key was changed by another request. Read it again.',
  },
})

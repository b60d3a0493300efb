import { keyIdOf } from '../../../lib/engine/keyring.ts'
import type {
  EncryptedCount,
  EncryptedText,
  EncryptedKind,
  EncryptedSecretReads,
  EncryptedSecretWrites,
} from '../contract/encrypted-secrets.ts'
import { ENCRYPTED_KINDS, ENCRYPTED_NAMES } from '../contract/encrypted-secrets.ts'
import type { Reading, State } from './state.ts'
import { change } from './state.ts'

interface Location {
  all(state: State): readonly EncryptedText[]
  put(state: State, id: string, encrypted: string): void
}

const LOCATIONS: Readonly<Record<(typeof ENCRYPTED_KINDS)[number], Location>> = {
  webhook_secret: {
    all: ({ webhooks }) => [...webhooks.values()].flatMap(({ secrets }) => secrets),
    put({ webhooks }, id, encrypted) {
      for (const { id: webhookId, secrets } of webhooks.values()) {
        if (!secrets.some((secret) => secret.id === id)) continue
        const others = secrets.map((secret) =>
          secret.id === id ? { ...secret, encrypted } : secret,
        )
        change(webhooks, webhookId, { secrets: others })
      }
    },
  },
  webhook_headers: {
    all: ({ webhooks }) =>
      [...webhooks.values()].flatMap(({ id, headers }) =>
        headers === null ? [] : [{ id, encrypted: headers.encrypted }],
      ),
    put({ webhooks }, id, encrypted) {
      const headers = webhooks.get(id)?.headers
      if (headers) change(webhooks, id, { headers: { ...headers, encrypted } })
    },
  },
  named_value: {
    all: ({ meta }) =>
      ENCRYPTED_NAMES.flatMap((id) => {
        const encrypted = meta.get(id)
        return encrypted === undefined ? [] : [{ id, encrypted }]
      }),
    put({ meta }, id, encrypted) {
      meta.set(id, encrypted)
    },
  },
}

function locationOf(kind: EncryptedKind): Location {
  const known = ENCRYPTED_KINDS.find((one) => one === kind)
  if (known === undefined) throw new TypeError(`no kind of encrypted values: ${kind}`)
  return LOCATIONS[known]
}

export function encryptedSecretReads(state: Reading): EncryptedSecretReads {
  return {
    kinds: ENCRYPTED_KINDS,
    async count(now) {
      const answers = [...state().idempotency.values()]
        .filter(({ expires_at }) => expires_at > now)
        .map(({ fingerprint, expires_at }) => ({
          kind: 'kept_answer' as const,
          text: fingerprint,
          until: expires_at,
        }))
      const encrypted = ENCRYPTED_KINDS.flatMap((kind) =>
        LOCATIONS[kind].all(state()).map((one) => ({ kind, text: one.encrypted, until: null })),
      )
      const counts = new Map<string, EncryptedCount>()
      for (const { kind, text, until } of [...answers, ...encrypted]) {
        const key_id = keyIdOf(text)
        const before = counts.get(`${key_id} ${kind}`)
        const latest = until === null ? null : Math.max(until, before?.until ?? 0)
        const count = (before?.count ?? 0) + 1
        counts.set(`${key_id} ${kind}`, { kind, key_id, count, until: latest })
      }
      return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    },
    async encryptedElsewhere(kind, keyId, { after, limit }) {
      return locationOf(kind)
        .all(state())
        .filter(({ id, encrypted }) => id > after && keyIdOf(encrypted) !== keyId)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id, encrypted }) => ({ id, encrypted }))
    },
  }
}

export function encryptedSecretWrites(state: State): EncryptedSecretWrites {
  return {
    ...encryptedSecretReads(() => state),
    async reencrypt(kind, texts) {
      const location = locationOf(kind)
      const now = new Map(location.all(state).map(({ id, encrypted }) => [id, encrypted]))
      const same = texts.filter(({ id, from }) => now.get(id) === from)
      for (const { id, to } of same) location.put(state, id, to)
      return same.length
    },
  }
}

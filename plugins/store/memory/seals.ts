import { keyIdOf } from '../../../lib/engine/keyring.ts'
import type { SealCount, SealedText, SealKind, SealReads, SealWrites } from '../contract/seals.ts'
import { SEAL_KINDS, SEALED_NAMES } from '../contract/seals.ts'
import type { Reading, State } from './state.ts'
import { change } from './state.ts'

interface Place {
  all(state: State): readonly SealedText[]
  put(state: State, id: string, sealed: string): void
}

const PLACES: Readonly<Record<(typeof SEAL_KINDS)[number], Place>> = {
  webhook_secret: {
    all: ({ webhooks }) => [...webhooks.values()].flatMap(({ secrets }) => secrets),
    put({ webhooks }, id, sealed) {
      for (const { id: webhookId, secrets } of webhooks.values()) {
        if (!secrets.some((secret) => secret.id === id)) continue
        const others = secrets.map((secret) => (secret.id === id ? { ...secret, sealed } : secret))
        change(webhooks, webhookId, { secrets: others })
      }
    },
  },
  webhook_headers: {
    all: ({ webhooks }) =>
      [...webhooks.values()].flatMap(({ id, headers }) =>
        headers === null ? [] : [{ id, sealed: headers.sealed }],
      ),
    put({ webhooks }, id, sealed) {
      const headers = webhooks.get(id)?.headers
      if (headers) change(webhooks, id, { headers: { ...headers, sealed } })
    },
  },
  named_value: {
    all: ({ meta }) =>
      SEALED_NAMES.flatMap((id) => {
        const sealed = meta.get(id)
        return sealed === undefined ? [] : [{ id, sealed }]
      }),
    put({ meta }, id, sealed) {
      meta.set(id, sealed)
    },
  },
}

function placeOf(kind: SealKind): Place {
  const known = SEAL_KINDS.find((one) => one === kind)
  if (known === undefined) throw new TypeError(`no kind of encrypted values: ${kind}`)
  return PLACES[known]
}

export function sealReads(state: Reading): SealReads {
  return {
    kinds: SEAL_KINDS,
    async count(now) {
      const answers = [...state().idempotency.values()]
        .filter(({ expires_at }) => expires_at > now)
        .map(({ fingerprint, expires_at }) => ({
          kind: 'kept_answer' as const,
          text: fingerprint,
          until: expires_at,
        }))
      const sealed = SEAL_KINDS.flatMap((kind) =>
        PLACES[kind].all(state()).map((one) => ({ kind, text: one.sealed, until: null })),
      )
      const counts = new Map<string, SealCount>()
      for (const { kind, text, until } of [...answers, ...sealed]) {
        const key_id = keyIdOf(text)
        const before = counts.get(`${key_id} ${kind}`)
        const latest = until === null ? null : Math.max(until, before?.until ?? 0)
        const count = (before?.count ?? 0) + 1
        counts.set(`${key_id} ${kind}`, { kind, key_id, count, until: latest })
      }
      return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    },
    async sealedElsewhere(kind, keyId, { after, limit }) {
      return placeOf(kind)
        .all(state())
        .filter(({ id, sealed }) => id > after && keyIdOf(sealed) !== keyId)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id, sealed }) => ({ id, sealed }))
    },
  }
}

export function sealWrites(state: State): SealWrites {
  return {
    ...sealReads(() => state),
    async reseal(kind, texts) {
      const place = placeOf(kind)
      const now = new Map(place.all(state).map(({ id, sealed }) => [id, sealed]))
      const same = texts.filter(({ id, from }) => now.get(id) === from)
      for (const { id, to } of same) place.put(state, id, to)
      return same.length
    },
  }
}

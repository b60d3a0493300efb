import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import { MAX_LIVE_SECRETS, keyStatus } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { printScopes } from '../../../lib/scope/canonical.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { KeyReads, KeyWrites } from '../contract/keys.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Reading, State } from './state.ts'
import { add, change, isWithin, searchPage } from './state.ts'

const isLive = (key: KeyRecord, now: Instant): boolean => keyStatus(key, [], now) === 'active'

/** A key and the keys above it, root first. */
export function lineOf(keys: State['keys'], id: string): readonly KeyRecord[] {
  const key = keys.get(id)
  if (key === undefined) return []
  return key.parent_id === null ? [key] : [...lineOf(keys, key.parent_id), key]
}

/** Whether a key and every key above it are live. */
function isLineLive(keys: State['keys'], id: string, now: Instant): boolean {
  return lineOf(keys, id).every((key) => isLive(key, now))
}

/** A key and every key below it. */
export function treeOf(keys: State['keys'], id: string): readonly string[] {
  if (!keys.has(id)) return []
  const children = [...keys.values()].filter(({ parent_id }) => parent_id === id)
  return [id, ...children.flatMap((child) => treeOf(keys, child.id))]
}

export function keyReads(state: Reading): KeyReads {
  return {
    async findChain(hash) {
      const { keys, endedSecrets, accounts } = state()
      const ended = endedSecrets.get(hash)
      const isHolder = ({ secrets }: KeyRecord) => secrets.some((one) => one.hash === hash)
      const key = ended ? keys.get(ended.key_id) : [...keys.values()].find(isHolder)
      const secret = ended?.secret ?? key?.secrets.find((one) => one.hash === hash)
      if (key === undefined || secret === undefined) return undefined
      const { id, account_id } = key
      const suspended = (accounts.get(account_id)?.suspended_at ?? null) !== null
      return { secret, chain: lineOf(keys, id), account: { id: account_id, suspended } }
    },
    async chain(accountId, id) {
      const line = lineOf(state().keys, id)
      return line[0]?.account_id === accountId ? line : []
    },
    async get(accountId, id) {
      const key = state().keys.get(id)
      return key?.account_id === accountId ? key : undefined
    },
    async list({ account_id, live_at, within, ...query }, most = MOST_LOOKED_AT) {
      const { keys } = state()
      const own = [...keys.values()].filter((key) => key.account_id === account_id)
      const asked = own.filter(({ id }) => live_at === null || isLineLive(keys, id, live_at))
      return searchPage(
        asked,
        query,
        ({ pins }) => isWithin(pins === 'all' ? null : [...pins], within),
        live_at === null && within !== null ? most : Infinity,
      )
    },
    async descendants(id, limit, now) {
      const { keys } = state()
      const ids = treeOf(keys, id)
        .filter((one) => one === id || isLineLive(keys, one, now))
        .toSorted()
      return { ids: ids.slice(0, limit), total: ids.length }
    },
  }
}

export function keyWrites(state: State, changes: ChangeSink): KeyWrites {
  const { keys, endedSecrets } = state
  /** Moves the secrets that have ended for good to their own map; returns the others. */
  const keepEnded = (key_id: string, secrets: readonly KeySecret[]): readonly KeySecret[] =>
    secrets.filter((secret) => {
      if (secret.not_after === 0) add(endedSecrets, secret.hash, { key_id, secret })
      return secret.not_after !== 0
    })
  const changeKey = (id: string, columns: Partial<KeyRecord>): boolean => {
    const account_id = keys.get(id)?.account_id
    changes.push({ kind: 'key', id, ...(account_id === undefined ? {} : { account_id }) })
    return change(keys, id, columns)
  }
  return {
    ...keyReads(() => state),
    async insert(key, limit) {
      if (key.parent_id !== null && !keys.has(key.parent_id)) {
        throw new Error(`there is no parent ${key.parent_id}`)
      }
      if (limit !== undefined) {
        const live = [...keys.values()].filter(
          ({ id, account_id }) => account_id === key.account_id && isLineLive(keys, id, limit.now),
        )
        const most = state.accounts.get(key.account_id)?.key_limit ?? limit.byDefault
        if (live.length >= most) return false
      }
      add(keys, key.id, { ...key, secrets: keepEnded(key.id, key.secrets) })
      return true
    },
    async update(judged, columns, now) {
      const key = keys.get(judged.id)
      if (
        key === undefined ||
        !isLive(key, now) ||
        printScopes(key.scopes) !== printScopes(judged.scopes) ||
        key.expires_at !== judged.expires_at
      ) {
        return false
      }
      return changeKey(judged.id, { ...columns, updated_at: now })
    },
    async rotate({ id, secret, previous_not_after, now }) {
      const key = keys.get(id)
      const isCurrent = key !== undefined && key.version === secret.version - 1
      if (!isCurrent || !isLive(key, now)) return 'conflict'
      const isLeft = (end: Instant | null): boolean => end !== null && end > now
      const replaced = key.secrets.map((one) => {
        if (one.version === key.version) return { ...one, not_after: previous_not_after }
        return isLeft(one.not_after) ? one : { ...one, not_after: 0 }
      })
      const previous = replaced.filter(({ not_after }) => isLeft(not_after))
      if (previous.length >= MAX_LIVE_SECRETS) return 'limit_reached'
      const secrets = keepEnded(id, [secret, ...replaced])
      changeKey(id, { version: secret.version, secrets, updated_at: now })
      return 'rotated'
    },
    async endPrevious(id, now) {
      const secrets = keys.get(id)?.secrets ?? []
      const isLeft = (end: Instant | null): boolean => end !== null && end > now
      const ended = secrets.map((one) => (isLeft(one.not_after) ? { ...one, not_after: 0 } : one))
      changeKey(id, { secrets: keepEnded(id, ended) })
      return secrets.some(({ not_after }) => isLeft(not_after))
    },
    async revoke(id, now) {
      if (keys.get(id)?.revoked_at !== null) return false
      return changeKey(id, { revoked_at: now, updated_at: now })
    },
    async touch(uses) {
      for (const { id, at } of uses) {
        const last = keys.get(id)?.last_used_at ?? at
        change(keys, id, { last_used_at: Math.max(last, at) })
      }
    },
  }
}

import type { AppReads, AppRecord, AppWrites } from '../contract/apps.ts'
import { ALIAS_KEPT, MOST_ALIASES_KEPT, placeOfApp, readPlaceOfApp } from '../contract/apps.ts'
import type { ChangeSink } from '../contract/changes.ts'
import { MOST_LOOKED_AT, leadOn } from '../contract/page.ts'
import { purgeDeployments, stopDeployments } from './deployments.ts'
import { purgeDomains } from './domains.ts'
import { purgeEdits } from './edits.ts'
import { purgeFiles } from './files.ts'
import { purgeObservations } from './observations.ts'
import { purgeServices } from './services.ts'
import type { Reading, State } from './state.ts'
import { add, change, place } from './state.ts'

const isArchived = ({ archived_at }: AppRecord): boolean => archived_at !== null

export function appReads(state: Reading): AppReads {
  const all = () => [...state().apps.values()]
  const live = () => all().filter(({ archived_at }) => archived_at === null)
  return {
    get: async (accountId, id) => {
      const app = state().apps.get(id)
      return app?.account_id === accountId ? app : undefined
    },
    async list({ account_id, ids, archived, status, alias, limit, after }, most = MOST_LOOKED_AT) {
      const looked = all()
        .filter((app) => app.account_id === account_id)
        .filter((app) => after === null || isBefore(app, readPlaceOfApp(after)))
        .sort((a, b) => (isBefore(a, { at: b.created_at, id: b.id }) ? 1 : -1))
        .slice(0, most)
      const rows = looked
        .filter((app) => archived === 'include' || isArchived(app) === (archived === 'only'))
        .filter((app) => ids === null || ids.includes(app.id))
        .filter((app) => status === null || app.status === status)
        .filter((app) => alias === null || app.alias === alias)
      const page = { rows: rows.slice(0, limit), more: rows.length > limit }
      const last = looked[most - 1]
      return leadOn(page, last && placeOfApp(last))
    },
    async count(accountId) {
      const own = all().filter((app) => app.account_id === accountId)
      const archived = own.filter(isArchived).length
      return { live: own.length - archived, archived }
    },
    async isAliasFree(alias, { account_id, app_id, now }) {
      const isBorne = live().some((app) => app.alias === alias && app.id !== app_id)
      const left = state().leftAliases.get(alias)
      const isKept = left !== undefined && left.account_id !== account_id && left.kept_until > now
      return !isBorne && !isKept
    },
    exists: async (id) => state().apps.has(id),
    due: async (now, limit) =>
      all()
        .filter((app) => isDue(app, now))
        .sort((a, b) => (a.purge_at ?? 0) - (b.purge_at ?? 0) || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id }) => id),
    revision: async (appId, number) => state().revisions.get(place(appId, String(number))),
    async revisions({ app_id, limit, before }) {
      const rows = [...state().revisions.values()]
        .filter((one) => one.app_id === app_id && (before === null || one.number < before))
        .sort((a, b) => b.number - a.number)
      return { rows: rows.slice(0, limit), more: rows.length > limit }
    },
  }
}

function isDue({ purge_at }: Pick<AppRecord, 'purge_at'>, now: number): boolean {
  return purge_at !== null && purge_at <= now
}

function isBefore(
  app: { readonly created_at: number; readonly id: string },
  { at, id }: ReturnType<typeof readPlaceOfApp>,
): boolean {
  return app.created_at < at || (app.created_at === at && app.id < id)
}

export function appWrites(state: State, changes: ChangeSink): AppWrites {
  const { apps, revisions } = state
  const isTaken = (alias: string | null): boolean =>
    alias !== null &&
    [...apps.values()].some((app) => app.alias === alias && app.archived_at === null)
  function keepAlias({ alias, account_id }: AppRecord, from: number): void {
    if (alias === null) return
    state.leftAliases.set(alias, Object.freeze({ account_id, kept_until: from + ALIAS_KEPT }))
    const own = [...state.leftAliases].filter(([, left]) => left.account_id === account_id)
    own.sort(([, a], [, b]) => b.kept_until - a.kept_until)
    const least = own[MOST_ALIASES_KEPT - 1]?.[1].kept_until ?? 0
    for (const [one, left] of own) if (left.kept_until < least) state.leftAliases.delete(one)
  }
  const isLive = (id: string): boolean => apps.get(id)?.archived_at === null
  /** Hosts lead elsewhere by this. */
  const moved = (id: string, isMoved: boolean): boolean => {
    if (isMoved) changes.push({ kind: 'site', id })
    return isMoved
  }
  return {
    ...appReads(() => state),
    async insert(app) {
      if (isTaken(app.alias)) throw new Error(`${app.alias} is taken`)
      add(apps, app.id, app)
      moved(app.id, true)
    },
    async update(id, named, now) {
      const app = apps.get(id)
      if (app?.archived_at !== null) return false
      if (named.alias !== undefined && named.alias !== app.alias) keepAlias(app, now)
      moved(id, named.alias !== undefined)
      return change(apps, id, { ...named, updated_at: now })
    },
    move: async (id, from, to, now) =>
      isLive(id) &&
      apps.get(id)?.status === from &&
      change(apps, id, { status: to, updated_at: now }),
    async advance(revision, base) {
      const { app_id, number, created_at } = revision
      if (!isLive(app_id) || apps.get(app_id)?.revision !== base) return false
      add(revisions, place(app_id, String(number)), revision)
      return moved(app_id, change(apps, app_id, { revision: number, updated_at: created_at }))
    },
    async archive(id, now, purgeAt) {
      const app = apps.get(id)
      if (app?.archived_at !== null) return false
      keepAlias(app, purgeAt)
      stopDeployments(state, id, now)
      const archived = { archived_at: now, purge_at: purgeAt, updated_at: now }
      return moved(id, change(apps, id, archived))
    },
    async restore(id, now) {
      const app = apps.get(id)
      if (app === undefined || app.archived_at === null) return false
      const alias = isTaken(app.alias) ? null : app.alias
      const restored = { alias, archived_at: null, purge_at: null, updated_at: now }
      return moved(id, change(apps, id, restored))
    },
    async purge(id, now) {
      const app = apps.get(id)
      if (app === undefined || !isDue(app, now)) return false
      keepAlias(app, now)
      for (const [at, revision] of revisions) if (revision.app_id === id) revisions.delete(at)
      purgeEdits(state, id)
      purgeFiles(state, id)
      purgeObservations(state, id)
      purgeDomains(state, id)
      purgeServices(state, id)
      state.signIn.delete(id)
      purgeDeployments(state, id)
      return moved(id, apps.delete(id))
    },
  }
}

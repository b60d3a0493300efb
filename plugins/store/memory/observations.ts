import type { Instant } from '../../../lib/time.ts'
import type { SiteRecord } from '../contract/sites.ts'
import type {
  AccessLine,
  LineQuery,
  ObservationReads,
  ObservationWrites,
  PlacedLine,
  ProbesDue,
} from '../contract/observations.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import { problemReads, recordProblems, resolveProblem } from './problems.ts'
import type { Reading, State } from './state.ts'
import { place, searchPage } from './state.ts'

const LAST_POSITION = 'line_position'

export function observationReads(state: Reading): ObservationReads {
  const linesOf = (appId: string) =>
    [...state().lines.values()].filter(({ app_id }) => app_id === appId)
  const checksOf = (appId: string) =>
    [...state().checks.values()]
      .filter(({ app_id }) => app_id === appId)
      .sort((a, b) => b.at - a.at)
  return {
    ...problemReads(state),
    async lines({ limit, after, ...query }, most = MOST_LOOKED_AT) {
      const within = linesOf(query.app_id).filter((line) => isWithin(line, query))
      const isFound = (line: PlacedLine) => isAsked(line, query)
      const page = searchPage(within, { limit, after }, isFound, most)
      return { ...page, rows: page.rows.map(withoutPlace) }
    },
    async tail(appId, after, limit) {
      const lines = linesOf(appId).sort((a, b) => a.position - b.position)
      return after === null
        ? lines.slice(-limit)
        : lines.filter(({ position }) => position > after).slice(0, limit)
    },
    async rate(appId, kind, since, most) {
      const latest = linesOf(appId)
        .filter((line) => line.kind === kind && line.at >= since)
        .sort((a, b) => (a.id > b.id ? -1 : 1))
        .slice(0, most)
      const errors = latest.filter(({ status }) => status >= 500).length
      return { requests: latest.length, errors }
    },
    usage: async (appId, from, before) =>
      [...state().usage.entries()]
        .filter(([, { app_id, day }]) => app_id === appId && day >= from && day < before)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { day, kind, meter, total, as_of }]) => ({ day, kind, meter, total, as_of })),
    checks: async (appId, limit) => checksOf(appId).slice(0, limit),
    async uptime(appId, since) {
      const checks = checksOf(appId).filter(({ at }) => at >= since)
      const passed = checks.filter(({ status }) => status === 'pass').length
      return { checks: checks.length, passed }
    },
    dueProbes: async (due, limit) =>
      [...state().probes]
        .filter(([, at]) => isDue(at, due))
        .sort(([a, at], [b, then]) => at - then || (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([id]) => id),
  }
}

function isDue(at: Instant, { now, furthest }: ProbesDue): boolean {
  return at <= now || at > furthest
}

function isServed({ apps, accounts }: State, site: SiteRecord | undefined): boolean {
  return (
    site !== undefined &&
    site.deployment_id !== null &&
    apps.get(site.app_id)?.archived_at === null &&
    (accounts.get(site.account_id)?.suspended_at ?? null) === null
  )
}

function withoutPlace(placed: PlacedLine): AccessLine {
  const { position: _, ...line } = placed
  return line
}

type Filters = Omit<LineQuery, 'limit' | 'after'>

function isWithin({ at }: AccessLine, { since, until }: Filters): boolean {
  return (since === null || at >= since) && (until === null || at < until)
}

function isAsked(line: AccessLine, { kind, status_class, path, deployment_id }: Filters): boolean {
  return (
    (kind === null || line.kind === kind) &&
    (status_class === null || Math.floor(line.status / 100) === status_class) &&
    (path === null || line.path.startsWith(path)) &&
    (deployment_id === null || line.deployment_id === deployment_id)
  )
}

export function observationWrites(state: State): ObservationWrites {
  const { apps, lines, usage, checks, probes, observers } = state
  return {
    ...observationReads(() => state),
    async beginBatch(source, number, now) {
      if ((observers.get(source)?.batch ?? -Infinity) >= number) return false
      observers.set(source, { batch: number, at: now })
      return true
    },
    async addLines(added) {
      // Not their number: a position that was given is never given again.
      let position = Number(state.meta.get(LAST_POSITION) ?? 0)
      for (const line of added.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
        const at = place(line.app_id, line.id)
        if (!apps.has(line.app_id) || lines.has(at)) continue
        lines.set(at, Object.freeze({ ...line, position: ++position }))
      }
      state.meta.set(LAST_POSITION, String(position))
    },
    async addUsage(additions, asOf) {
      for (const { app_id, day, kind, meter, amount } of additions) {
        if (!apps.has(app_id)) continue
        const at = JSON.stringify([app_id, day, kind, meter])
        const known = usage.get(at)
        const total = (known?.total ?? 0) + amount
        const as_of = Math.max(known?.as_of ?? 0, asOf)
        usage.set(at, Object.freeze({ app_id, day, kind, meter, total, as_of }))
      }
    },
    recordProblems: async (told) => recordProblems(state, told),
    resolveProblem: async (appId, id, now) => resolveProblem(state, appId, id, now),
    async addChecks(added) {
      for (const check of added) {
        const at = place(check.app_id, String(check.at))
        if (apps.has(check.app_id) && !checks.has(at)) checks.set(at, Object.freeze({ ...check }))
      }
    },
    async claimProbes(next, due) {
      const claimed = next.filter(({ app_id }) => {
        const at = probes.get(app_id)
        return at !== undefined && isDue(at, due)
      })
      for (const { app_id, at } of claimed) probes.set(app_id, at)
      const ids = claimed.map(({ app_id }) => app_id)
      return ids.filter((id) => isServed(state, state.sites.get(id)))
    },
  }
}

/** Deletes whatever was observed of an app. */
export function purgeObservations(state: State, appId: string): void {
  state.probes.delete(appId)
  for (const rows of [state.lines, state.usage, state.problems, state.checks]) {
    forget(rows, appId)
  }
}

function forget(rows: Map<string, { readonly app_id: string }>, appId: string): void {
  for (const [at, { app_id }] of rows) if (app_id === appId) rows.delete(at)
}

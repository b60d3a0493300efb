import type { Instant } from '../../../lib/time.ts'
import type { ObservationReads, ProblemRecord, ToldProblem } from '../contract/observations.ts'
import {
  MAX_NEW_OF_REPORTER,
  MAX_NEW_PROBLEMS,
  MAX_PROBLEMS,
  readPlaceOfProblem,
} from '../contract/observations.ts'
import type { Reading, State } from './state.ts'
import { add, change } from './state.ts'

export function problemReads(state: Reading): Pick<ObservationReads, 'problem' | 'problems'> {
  return {
    problem: async (appId, id) => {
      const problem = state().problems.get(id)
      return problem?.app_id === appId ? problem : undefined
    },
    async problems({ app_id, kind, status, since, text, limit, after }) {
      const place = after === null ? null : readPlaceOfProblem(after)
      const rows = [...state().problems.values()]
        .filter((one) => one.app_id === app_id)
        .filter((one) => kind === null || one.kind === kind)
        .filter((one) => status === null || one.status === status)
        .filter((one) => since === null || one.last_seen >= since)
        .filter((one) => text === null || one.title.includes(text) || one.culprit.includes(text))
        .filter((one) => place === null || isBefore(one, place))
        .sort((a, b) => (isBefore(a, { at: b.last_seen, id: b.id }) ? 1 : -1))
      return { rows: rows.slice(0, limit), more: rows.length > limit }
    },
  }
}

function isBefore(
  { last_seen, id }: Pick<ProblemRecord, 'last_seen' | 'id'>,
  place: ReturnType<typeof readPlaceOfProblem>,
): boolean {
  return last_seen < place.at || (last_seen === place.at && id < place.id)
}

/** Counts what was told, having made room for what is new. Answers how many were kept. */
export function recordProblems(state: State, told: readonly ToldProblem[]): number {
  const { apps, problems } = state
  const known = new Map([...problems.values()].map((one) => [nameOf(one), one]))
  const there = told.filter(({ app_id }) => apps.has(app_id))
  const seen = there.flatMap((one) => known.get(nameOf(one)) ?? [])
  const fresh = there
    .filter((one) => !known.has(nameOf(one)))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const one of there) {
    const before = known.get(nameOf(one))
    if (before !== undefined) change(problems, before.id, countedOn(before, one))
  }
  let kept = seen.length
  for (const app_id of new Set(fresh.map((one) => one.app_id))) {
    const ofApp = takenOf(fresh.filter((one) => one.app_id === app_id))
    const room = makeRoom(state, app_id, ofApp.length, seen)
    for (const { reporter: _, ...one } of ofApp.slice(0, room)) {
      add(problems, one.id, { ...one, status: 'open', resolved_at: null, reopened_at: null })
      kept++
    }
  }
  return kept
}

/** New ones of one app that are taken, reporters in turn. */
function takenOf(fresh: readonly ToldProblem[]): readonly ToldProblem[] {
  const turns = new Map<number, number>()
  const placed = fresh.map((one) => {
    const turn = (turns.get(one.reporter) ?? 0) + 1
    turns.set(one.reporter, turn)
    return { one, turn }
  })
  return placed
    .filter(({ turn }) => turn <= MAX_NEW_OF_REPORTER)
    .sort((a, b) => a.turn - b.turn || (a.one.id < b.one.id ? -1 : 1))
    .slice(0, MAX_NEW_PROBLEMS)
    .map(({ one }) => one)
}

function nameOf({ app_id, kind, fingerprint }: Omit<ToldProblem, 'reporter'>): string {
  return JSON.stringify([app_id, kind, fingerprint])
}

function countedOn(before: ProblemRecord, told: ToldProblem): Partial<ProblemRecord> {
  const cameBack = before.status === 'resolved' && told.last_seen > (before.resolved_at ?? 0)
  const { deployment_id, edit_id, last_seen, sample } = told
  return {
    count: before.count + told.count,
    first_seen: Math.min(before.first_seen, told.first_seen),
    ...(last_seen >= before.last_seen && { last_seen, sample }),
    ...(cameBack && { status: 'open', reopened_at: last_seen, deployment_id, edit_id }),
  }
}

/** Deletes problems where there would be too many; answers how many new ones have a place. */
function makeRoom(
  { problems }: State,
  appId: string,
  wanted: number,
  seen: readonly ProblemRecord[],
): number {
  const kept = [...problems.values()].filter(({ app_id }) => app_id === appId)
  const unseen = kept
    .filter(({ id }) => !seen.some((one) => one.id === id))
    .sort((a, b) => worthOf(a) - worthOf(b) || a.last_seen - b.last_seen || (a.id < b.id ? -1 : 1))
  const going = unseen.slice(0, Math.max(0, kept.length + wanted - MAX_PROBLEMS))
  for (const { id } of going) problems.delete(id)
  return Math.max(0, MAX_PROBLEMS - kept.length + going.length)
}

function worthOf({ status, count }: ProblemRecord): number {
  return status === 'open' ? count : 0
}

export function resolveProblem(
  { problems }: State,
  appId: string,
  id: string,
  now: Instant,
): boolean {
  const problem = problems.get(id)
  if (problem?.app_id !== appId || problem.status !== 'open') return false
  return change(problems, id, { status: 'resolved', resolved_at: now })
}

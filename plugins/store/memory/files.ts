import type { Instant } from '../../../lib/time.ts'
import type { FileChunk, FileReads, FileRecord, FileWrites, NewChunk } from '../contract/files.ts'
import { packVectors } from '../vectors.ts'
import { findNearest } from './nearest.ts'
import { searchChunks } from './search.ts'
import type { Reading, State } from './state.ts'
import { add, change, isLeased, pageOf } from './state.ts'

/** Of what is not under way. */
const NO_PLACE = { stage: null, done: 0, total: null }

export function fileReads(state: Reading): FileReads {
  const all = () => [...state().files.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const ofApp = (appId: string) => all().filter(({ app_id }) => app_id === appId)
  const searched = (appId: string, files: readonly string[] | null) =>
    ofApp(appId)
      .filter(({ status }) => status === 'processed')
      .filter(({ id }) => files === null || files.includes(id))
  return {
    get: async (appId, id) => {
      const file = state().files.get(id)
      return file?.app_id === appId ? file : undefined
    },
    list: async ({ app_id, status, content_type, ...page }) =>
      pageOf(
        ofApp(app_id)
          .filter((file) => status === null || file.status === status)
          .filter((file) => content_type === null || file.content_type === content_type),
        page,
      ),
    bySha256: async (appId, sha256) => ofApp(appId).find((file) => file.sha256 === sha256),
    async sum(appId) {
      const files = ofApp(appId)
      return { files: files.length, bytes: files.reduce((bytes, { size }) => bytes + size, 0) }
    },
    async named(appId, sha256) {
      const known = new Set(ofApp(appId).map((file) => file.sha256))
      return [...new Set(sha256)].filter((one) => known.has(one))
    },
    async search({ app_id, query, limit, files }) {
      const passages = searched(app_id, files).flatMap(({ id, name }) =>
        (state().fileChunks.get(id) ?? []).map((chunk) => ({ file_id: id, name, ...chunk })),
      )
      return searchChunks(passages, query, limit)
    },
    nearest: (search) => findNearest(state, searched(search.app_id, search.files), search),
    chunks: async (id, from, limit) =>
      (state().fileChunks.get(id) ?? [])
        .filter(({ ordinal }) => ordinal >= from)
        .sort((a, b) => a.ordinal - b.ordinal)
        .slice(0, limit),
    isClaimable: async (now) => next(state(), now) !== undefined,
  }
}

function next({ files, fileLeases }: State, now: Instant): FileRecord | undefined {
  const busy = new Map<string, number>()
  const free: FileRecord[] = []
  for (const file of files.values()) {
    const { id, account_id, status } = file
    if (status === 'processing' && isLeased(fileLeases, id, now)) {
      busy.set(account_id, (busy.get(account_id) ?? 0) + 1)
    } else if (status === 'queued' || status === 'processing') free.push(file)
  }
  const load = ({ account_id }: FileRecord): number => busy.get(account_id) ?? 0
  return free.sort((a, b) => load(a) - load(b) || (a.id < b.id ? -1 : 1))[0]
}

export function fileWrites(state: State): FileWrites {
  const { files, fileLeases, fileChunks, fileVectors } = state
  const isHeld = (id: string, claim: string): boolean =>
    files.get(id)?.status === 'processing' && fileLeases.get(id)?.claim === claim

  return {
    ...fileReads(() => state),
    insert: async (file) => add(files, file.id, file),
    async claim({ claim, now, lease_until, deadline_at }) {
      const found = next(state, now)
      if (found === undefined) return undefined
      fileLeases.set(found.id, { claim, until: lease_until })
      forgetChunks(state, found.id)
      change(files, found.id, {
        ...NO_PLACE,
        status: 'processing',
        attempts: found.attempts + 1,
        deadline_at: found.deadline_at ?? deadline_at,
      })
      return files.get(found.id)
    },
    async beat(id, claim, { lease_until, stage, done, total }) {
      if (!isHeld(id, claim)) return false
      fileLeases.set(id, { claim, until: lease_until })
      return change(files, id, { stage, done, total })
    },
    async release(id, claim, now) {
      if (!isHeld(id, claim)) return false
      fileLeases.set(id, { claim, until: now })
      const attempts = (files.get(id)?.attempts ?? 1) - 1
      return change(files, id, { stage: null, done: 0, total: null, attempts })
    },
    async addChunks(id, claim, chunks) {
      if (!isHeld(id, claim)) return false
      const added = chunks.map(plain)
      fileChunks.set(id, [...(fileChunks.get(id) ?? []), ...added])
      return true
    },
    async addVectors(id, claim, { model, first, vectors }) {
      if (!isHeld(id, claim)) return false
      const chunks = vectors.length
      const added = { model, file_id: id, ordinal: first, chunks, packed: packVectors(vectors) }
      if (chunks > 0) fileVectors.set(id, [...(fileVectors.get(id) ?? []), added])
      return true
    },
    async finish(id, claim, now, end) {
      if (!isHeld(id, claim)) return false
      fileLeases.delete(id)
      if (end.status === 'processed') {
        return change(files, id, { ...NO_PLACE, ...end, processed_at: now })
      }
      forgetChunks(state, id)
      return change(files, id, { ...NO_PLACE, ...end })
    },
    retry: async (id) =>
      files.get(id)?.status === 'failed' &&
      change(files, id, { status: 'queued', error: null, attempts: 0, deadline_at: null }),
    async remove(appId, id) {
      if (files.get(id)?.app_id !== appId) return false
      forget(state, id)
      return true
    },
  }
}

/** Words are worked out anew with each search. */
function plain({ ordinal, text, heading, page, start, end }: NewChunk): FileChunk {
  return { ordinal, text, heading, page, start, end }
}

function forget(state: State, id: string): void {
  state.files.delete(id)
  state.fileLeases.delete(id)
  forgetChunks(state, id)
}

function forgetChunks({ fileChunks, fileVectors }: State, id: string): void {
  fileChunks.delete(id)
  fileVectors.delete(id)
}

/** Deletes every file of an app. */
export function purgeFiles(state: State, appId: string): void {
  for (const [id, { app_id }] of state.files) if (app_id === appId) forget(state, id)
}

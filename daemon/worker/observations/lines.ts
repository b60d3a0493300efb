import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { AccessLine } from '../../../plugins/platform/contract/observations.ts'
import type { Served } from '../../hosting/site.ts'
import { fullest } from './fullest.ts'
import { wellFormed } from './redact.ts'

/** Maximum lines in memory, per app and in total. */
export const MOST_LINES_OF_APP = 1000
export const MOST_LINES = 10_000
/** Part of an app's lines that is dropped at once: dropping one by one would move all the others. */
const DROPPED_PART = 1 / 10

const MAX_PATH = 1024
/** Maximum of a path without a file, which anybody can make up. */
const MAX_REFUSED_PATH = 256
const MAX_ID = 64
const MAX_METHOD = 20

interface WaitingLines {
  add(served: Served): void
  /** All of them, those of an app in their order. */
  take(): readonly AccessLine[]
}

/**
 * Lines waiting to be written: the newest of each app. When the total is reached, the app with the most lines
 * loses its oldest.
 *
 * @param dropped incremented by what is dropped
 */
export function createLines(random: RandomBytes, dropped: { access_lines: number }): WaitingLines {
  let lines = new Map<string, AccessLine[]>()
  let count = 0

  function dropOldest(of: AccessLine[]): void {
    const { length } = of.splice(0, Math.ceil(of.length * DROPPED_PART))
    count -= length
    dropped.access_lines += length
  }

  return {
    add(served) {
      const ofApp = lines.get(served.app_id) ?? []
      lines.set(served.app_id, ofApp)
      if (ofApp.length === MOST_LINES_OF_APP) dropOldest(ofApp)
      else if (count === MOST_LINES) {
        dropOldest(fullest(lines.values(), ({ length }) => length) ?? ofApp)
      }
      ofApp.push(toLine(served, uuid7Of(served.at, random(8))))
      count += 1
    },
    take() {
      const taken = [...lines.values()].flat()
      lines = new Map()
      count = 0
      return taken
    },
  }
}

function toLine({ duration, ...served }: Served, id: string): AccessLine {
  return {
    id,
    app_id: served.app_id,
    kind: served.kind,
    deployment_id: served.deployment_id,
    request_id: wellFormed(served.request_id, MAX_ID),
    at: served.at,
    method: wellFormed(served.method, MAX_METHOD),
    path: pathOf(served.path, served.status),
    status: served.status,
    bytes: served.bytes,
    took_ms: Math.round(duration),
  }
}

function pathOf(path: string, status: number): string {
  return status < 400 || path.length <= MAX_REFUSED_PATH
    ? wellFormed(path, MAX_PATH)
    : `${wellFormed(path, MAX_REFUSED_PATH - 1)}…`
}

import type { ServiceStatus } from '../api/client.ts'

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `1.5 GiB` */
export function bytesOf(bytes: number): string {
  const at = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** at
  return `${amount.toLocaleString(undefined, { maximumFractionDigits: at === 0 ? 0 : 1 })} ${UNITS[at] ?? ''}`
}

const SPANS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** `2 h 5 min`; seconds below a minute. */
export function durationOf(seconds: number | null): string {
  if (seconds === null) return 'Unknown'
  if (seconds < 60) return `${Math.round(seconds)} s`
  const first = SPANS.findIndex(([, size]) => seconds >= size)
  const [[unit, size], next] = [SPANS[first] ?? SPANS[2], SPANS[first + 1]]
  const whole = Math.floor(seconds / size)
  if (next === undefined) return `${whole} ${unit}`
  return `${whole} ${unit} ${Math.floor((seconds - whole * size) / next[1])} ${next[0]}`
}

/** Deliveries are late when one waits this long. */
const LATE_SECONDS = 60
const LITTLE_ROOM = 0.05

/** What is wrong first, in a sentence. */
export function verdictOf(status: ServiceStatus): {
  readonly isGood: boolean
  readonly sentence: string
} {
  const faults: readonly (readonly [boolean, string])[] = [
    [status.unfinished_deliveries === null, 'The database does not answer.'],
    [
      status.sending === 'paused',
      'Nothing is delivered since a backup was restored. `keyhook sending resume` goes on.',
    ],
    [
      (status.attempts_unrecorded ?? 0) > 0,
      'Outcomes of attempts could not be recorded and wait in memory: see the log.',
    ],
    [
      status.disk.free_bytes < status.disk.total_bytes * LITTLE_ROOM,
      `The disk is nearly full: ${bytesOf(status.disk.free_bytes)} are left.`,
    ],
    [
      (status.oldest_due_seconds ?? 0) > LATE_SECONDS,
      `Deliveries are late: the oldest is due for ${durationOf(status.oldest_due_seconds)}.`,
    ],
  ]
  const fault = faults.find(([holds]) => holds)
  return fault === undefined
    ? { isGood: true, sentence: 'The service is healthy: deliveries are sent when they are due.' }
    : { isGood: false, sentence: fault[1] }
}

import type { HostileRow } from '../row.ts'
import { answered } from '../row.ts'
import { saying } from '../server.ts'

const DAY = 24 * 60 * 60

/** The stand's own delay after a failed attempt, in seconds. */
export const STEP = 60

function asking(status: number, title: string, wish: string, retryAfter: number): HostileRow {
  return {
    case: `answers ${status} and asks to wait ${title}`,
    start: saying(`HTTP/1.1 ${status} Later\r\nretry-after: ${wish}\r\ncontent-length: 0\r\n\r\n`),
    recorded: answered(status),
    ends: 'itself',
    retryAfter,
  }
}

/** Answers that say what is to become of the delivery. */
export const WISH_ROWS: readonly HostileRow[] = [
  asking(429, 'ten years', String(3650 * DAY), DAY),
  asking(503, 'ten years', String(3650 * DAY), DAY),
  asking(
    503,
    'until a date in ten years',
    new Date(Date.now() + 3650 * DAY * 1000).toUTCString(),
    DAY,
  ),
  asking(429, 'two hours', '7200', 7200),
  asking(429, 'a negative time', '-7200', STEP),
  asking(503, 'until a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT', STEP),
  asking(503, 'no time at all', '0', STEP),
  asking(503, 'longer than a number can say', '9'.repeat(400), STEP),
  asking(429, 'in words', 'a while', STEP),
  asking(500, 'two times', '30\r\nretry-after: 864000', STEP),
  {
    case: 'answers 410: the webhook is disabled',
    start: saying('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'),
    recorded: { status: 'exhausted', status_code: 410, error: 'http_status' },
    ends: 'itself',
    once: true,
  },
]

import { equalBytes } from '../internal/bytes.ts'

interface Published {
  readonly type: string
  readonly app_id: string | null
  readonly body: Uint8Array
}

const DATA_MARK = ',"data":'
const decoder = new TextDecoder()

/**
 * Whether two events of one id are the same: type, app and data. Their `created_at` may differ, since
 * a caller who tries again does so later.
 */
export function sameEvent(a: Published, b: Published): boolean {
  return a.type === b.type && a.app_id === b.app_id && equalBytes(dataOf(a.body), dataOf(b.body))
}

/** The bytes from the data on. Neither ids, types nor instants hold a quote, so the mark is the first. */
function dataOf(body: Uint8Array): Uint8Array {
  const head = decoder.decode(body.subarray(0, HEAD_BYTES))
  return body.subarray(head.indexOf(DATA_MARK))
}

/** Ids are at most 68 characters and types 100, so the data begins within this. */
const HEAD_BYTES = 512

import type { AppBytes, ByteRange, Kept } from '../../../plugins/apps/contract.ts'
import type { BeaconPosition } from './scan.ts'

/** A page, and the text to insert while it is sent. */
export interface Splice extends BeaconPosition {
  readonly page: Kept
}

/** Opens a part of a page as if it were stored with the beacon; undefined for a missing page. */
export async function openSpliced(
  bytes: Pick<AppBytes, 'open'>,
  appId: string,
  { page, at, tag }: Splice,
  { start, end }: ByteRange,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const open = async (from: number, to: number): Promise<AsyncIterable<Uint8Array> | undefined> =>
    from < to ? bytes.open(appId, page.sha256, { start: from, end: to }) : NOTHING
  const before = await open(start, Math.min(end, at))
  const behind = await open(Math.max(start - tag.length, at), end - tag.length)
  if (before === undefined || behind === undefined) return undefined
  const put = tag.subarray(Math.max(0, start - at), Math.max(0, end - at))
  return inTurn(before, put, behind)
}

const NOTHING: AsyncIterable<Uint8Array> = inTurn()

async function* inTurn(
  ...parts: readonly (AsyncIterable<Uint8Array> | Uint8Array)[]
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part
    else yield* part
  }
}

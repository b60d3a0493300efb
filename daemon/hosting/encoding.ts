import Negotiator from 'negotiator'
import type { Kept } from '../../plugins/apps/contract.ts'
import type { Encoding, ServedFile } from '../../plugins/deploy/contract.ts'
import { ENCODINGS } from '../../plugins/deploy/contract.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

/** The representation of a file for one request. */
export interface Form extends Kept {
  readonly encoding: Encoding | 'identity'
}

/** Order among equally acceptable encodings. */
const PREFERRED: readonly Form['encoding'][] = [...ENCODINGS, 'identity']

/** Missing in the library's types. */
interface ByPreference {
  encodings(
    available: readonly string[],
    options: { readonly preferred: readonly string[] },
  ): readonly string[]
}

/** Acceptable encodings by header, best first: browsers send few different headers. */
const known = new LruCache<readonly Form['encoding'][]>({ max: 100 })

/**
 * Chooses the representation for a request; undefined when none is acceptable (RFC 9110, 12.5.3).
 *
 * @param accepted the `Accept-Encoding` header; without it, the file is sent as it is
 */
export function chooseForm(
  { sha256, size, encoded }: ServedFile,
  accepted: string | undefined,
): Form | undefined {
  for (const encoding of acceptable(accepted ?? '')) {
    if (encoding === 'identity') return { encoding, sha256, size }
    const kept = encoded[encoding]
    if (kept !== undefined) return { encoding, sha256: kept.sha256, size: kept.size }
  }
  return undefined
}

function acceptable(accepted: string): readonly Form['encoding'][] {
  const kept = known.get(accepted)
  if (kept !== undefined) return kept
  const headers = { 'accept-encoding': normalized(accepted) }
  const negotiator: ByPreference = new Negotiator({ headers })
  const names = negotiator.encodings(PREFERRED, { preferred: PREFERRED })
  const encodings = names.flatMap((name) => PREFERRED.filter((encoding) => encoding === name))
  known.set(accepted, encodings)
  return encodings
}

/** The library does not know the older name of gzip (RFC 9110, 8.4.1.3), and accepts weights beyond 1. */
function normalized(accepted: string): string {
  return accepted.replace(/\bx-gzip\b/gi, 'gzip').replace(/;\s*q\s*=\s*[2-9][^,]*/gi, ';q=0')
}

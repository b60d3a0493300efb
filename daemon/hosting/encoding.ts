import type { Kept } from '../../plugins/apps/contract.ts'
import type { Encoding, ServedFile } from '../../plugins/deploy/contract.ts'
import { ENCODINGS } from '../../plugins/deploy/contract.ts'

/** The form of a file that one request is answered with. */
export interface Form extends Kept {
  readonly encoding: Encoding | 'identity'
}

/** Of what is not named: acceptable, but less so than anything that is. */
const UNNAMED = 0.0001

/**
 * Chooses among the forms that a file is kept in; undefined when none is acceptable (RFC 9110, 12.5.3).
 *
 * @param accepted the header; without one nobody asked for anything but the file as it is
 */
export function chooseForm(file: ServedFile, accepted: string | undefined): Form | undefined {
  const { sha256, size, encoded } = file
  const identity: Form = { encoding: 'identity', sha256, size }
  if (accepted === undefined) return identity
  const weights = weightsOf(accepted)
  const others = weights.get('*')
  let best: Form | undefined
  let most = 0
  for (const encoding of ENCODINGS) {
    const kept = encoded[encoding]
    const weight = weights.get(encoding) ?? others ?? 0
    if (kept === undefined || weight <= most) continue
    best = { encoding, sha256: kept.sha256, size: kept.size }
    most = weight
  }
  return (weights.get('identity') ?? others ?? UNNAMED) > most ? identity : best
}

/** What is no coding with its weight is passed over. */
function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const part of accepted.split(',')) {
    const [, coding, weight = '1'] =
      /^\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i.exec(part) ?? []
    if (coding !== undefined) weights.set(nameOf(coding), Number(weight))
  }
  return weights
}

/** RFC 9110, 8.4.1.3: an older name of the same. */
function nameOf(coding: string): string {
  const name = coding.toLowerCase()
  return name === 'x-gzip' ? 'gzip' : name
}

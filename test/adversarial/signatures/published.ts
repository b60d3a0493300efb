import { SIGNATURE_CASES } from '../../vectors/signature.ts'
import type { Check, Checks } from '../run.ts'
import { verdictOf } from './verdict.ts'

/** The published deliveries of one row; most rows are these alone. */
export function published(id: string): Check {
  return async (t, saw) => {
    const cases = SIGNATURE_CASES.filter((one) => one.id.startsWith(`${id}-`))
    t.ok(cases.length > 0)
    for (const { id, description, body, headers, secrets, now, ...expected } of cases) {
      const verdict = await verdictOf({ body, headers, secret: secrets, now }, saw)
      const signed = expected.event === false ? 'body_malformed' : 'verified'
      t.equal(verdict, expected.valid ? signed : expected.reason, `${id}: ${description}`)
    }
  }
}

const IDS = [
  [
    'V01',
    'V02',
    'V03',
    'V04',
    'V05',
    'V06',
    'V07',
    'V08',
    'V09',
    'V10',
    'V11',
    'V12',
    'V13',
    'V14',
  ],
  ['V15', 'V21'],
].flat()

export const PUBLISHED_CHECKS: Checks = Object.fromEntries(IDS.map((id) => [id, published(id)]))

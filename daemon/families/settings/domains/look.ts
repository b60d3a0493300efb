import type { NameLookup } from '../../../../plugins/egress/contract.ts'
import { isWithin } from './hostname.ts'
import type { WantedRecord, WantedRecords } from './records.ts'

/** Result of a DNS lookup. */
export type Finding = 'found' | 'missing' | 'differs' | 'no_answer'

export interface Findings {
  readonly challenge: Finding
  readonly route: Finding
}

/** Maximum CNAMEs that are followed; longer chains are not needed. */
const MAX_ALIASES = 4

/** Looks up the records that the owner of a hostname must set. */
export async function look(names: NameLookup, wanted: WantedRecords): Promise<Findings> {
  const [challenge, route] = await Promise.all([
    findText(names, wanted.challenge),
    findRoute(names, wanted.route),
  ])
  return { challenge, route }
}

async function findText(names: NameLookup, { name, value }: WantedRecord): Promise<Finding> {
  const texts = await names.texts(name)
  if (texts === undefined) return 'no_answer'
  if (texts.includes(value)) return 'found'
  return texts.length === 0 ? 'missing' : 'differs'
}

/** A name leads to a target by a CNAME, or by having only the target's addresses. */
async function findRoute(names: NameLookup, { name, value }: WantedRecord): Promise<Finding> {
  let at = name
  for (let passed = 0; passed < MAX_ALIASES; passed += 1) {
    const aliases = await names.aliases(at)
    if (aliases === undefined) return 'no_answer'
    const [alias] = aliases
    if (alias === undefined) break
    if (isWithin(alias, value)) return 'found'
    at = alias
  }
  const [own, wanted] = await Promise.all([names.addresses(name), names.addresses(value)])
  if (own === undefined || wanted === undefined) return 'no_answer'
  if (own.length === 0) return 'missing'
  return own.every((address) => wanted.includes(address)) ? 'found' : 'differs'
}

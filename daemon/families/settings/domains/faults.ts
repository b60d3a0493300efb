import type { Finding, Findings } from './look.ts'

/** Why a domain is not verified, by code. */
export const DOMAIN_FAULTS = {
  challenge_missing: 'The TXT record that proves ownership of the hostname is missing.',
  challenge_differs: 'The TXT record that proves ownership of the hostname has another value.',
  route_missing: 'The hostname has neither a CNAME record nor addresses.',
  route_differs: 'The hostname does not lead to the apps of this service.',
  no_answer: 'The name servers of the hostname gave no answer that can be used.',
  domain_in_use: 'The hostname is verified for another app.',
} as const satisfies Readonly<Record<string, string>>

export type DomainFault = keyof typeof DOMAIN_FAULTS

const OF_FINDINGS: Readonly<
  Record<keyof Findings, Readonly<Record<Exclude<Finding, 'found'>, DomainFault>>>
> = {
  challenge: {
    missing: 'challenge_missing',
    differs: 'challenge_differs',
    no_answer: 'no_answer',
  },
  route: { missing: 'route_missing', differs: 'route_differs', no_answer: 'no_answer' },
}

/** The fault of a domain: a known fault before an unknown state. */
export function faultOf({ challenge, route }: Findings): DomainFault | undefined {
  const faults = [
    ...(challenge === 'found' ? [] : [OF_FINDINGS.challenge[challenge]]),
    ...(route === 'found' ? [] : [OF_FINDINGS.route[route]]),
  ]
  return faults.find((fault) => fault !== 'no_answer') ?? faults[0]
}

/** A stored code with its public message. */
export function describeFault(
  code: string | null,
): { readonly code: string; readonly message: string } | null {
  if (code === null) return null
  return {
    code,
    message: Object.hasOwn(DOMAIN_FAULTS, code) ? DOMAIN_FAULTS[code as DomainFault] : '',
  }
}

/** What was asked to take authority away, and since when it is answered. */
export const CHANGES = [
  'revoke',
  'revoke_ancestor',
  'narrow',
  'shorten',
  'rotate',
  'end_previous',
  'suspend',
] as const

export type ChangeKind = (typeof CHANGES)[number]

/** A key's value that was accepted: what the answer said of it. */
export interface Held {
  readonly scopes: readonly string[]
  readonly expiresAt: number | null
}

/** One question whether a value works; instants by the steady clock, but for `at`. */
export interface Probe {
  readonly started: number
  readonly ended: number
  /** When it started, by the calendar. */
  readonly at: number
  /** Undefined: refused. */
  readonly held: Held | undefined
}

/** At most this is left of a value's authority once the change was answered. */
export interface Limit {
  readonly kind: ChangeKind
  readonly asked: number
  /** Infinite until it is answered. */
  answered: number
  /** When it was asked and answered that the limit is gone again. */
  liftAsked: number
  lifted: number
  readonly left: Left
}

/** Nothing, or no more than these scopes, or nothing beyond this instant. */
export type Left = 'nothing' | { readonly scopes: readonly string[] } | { readonly until: number }

export interface Value {
  readonly name: string
  readonly token: string
  readonly limits: Limit[]
}

/** How far the clocks of the daemons may be apart from this one, which is also the database's. */
const CLOCKS = 100

/** The limit that was answered before the probe began and that its acceptance is beyond. */
export function brokenBy({ limits }: Value, probe: Probe): Limit | undefined {
  const { held } = probe
  if (held === undefined) return undefined
  return limits.find(
    ({ answered, liftAsked, left }) =>
      answered < probe.started && probe.ended < liftAsked && !isWithin(left, held, probe.at),
  )
}

function isWithin(left: Left, { scopes, expiresAt }: Held, at: number): boolean {
  if (left === 'nothing') return false
  if ('scopes' in left) return scopes.every((scope) => left.scopes.includes(scope))
  return expiresAt !== null && expiresAt <= left.until && at <= left.until + CLOCKS
}

/** Whether a refusal may be: something that ends the value was asked for by then. */
export function mayBeRefused({ limits }: Value, probe: Probe): boolean {
  const at = probe.at + probe.ended - probe.started
  return limits.some(
    ({ asked, lifted, left }) =>
      asked <= probe.ended &&
      probe.started <= lifted &&
      (left === 'nothing' || ('until' in left && at >= left.until - CLOCKS)),
  )
}

/** Whether a probe says something of a change: one of its limits was answered before it. */
export function isLater({ limits }: Value, { started, ended }: Probe): boolean {
  return limits.some(({ answered, liftAsked }) => answered < started && ended < liftAsked)
}

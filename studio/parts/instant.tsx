import { useEffect, useState } from 'react'

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** `3 minutes ago`, `in 2 days`; seconds only below a minute. */
export function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return RELATIVE.format(Math.round(seconds / size), unit)
}

/** A relative time, with the local and the UTC time on hover. */
export function Instant({ at }: { readonly at: string }) {
  const now = useNow()
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${LOCAL.format(date)}\n${at} (UTC)`}>
      {relative(date.getTime(), now)}
    </time>
  )
}

/** The local time in full, where a page has room for it. */
export function FullInstant({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${at} (UTC)`}>
      {LOCAL.format(new Date(at))}
    </time>
  )
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

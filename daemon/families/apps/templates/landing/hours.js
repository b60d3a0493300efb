/** The weekday ("Mon") and the time ("09:30") that a clock in the time zone shows. */
export function clockIn(timeZone, now = new Date()) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(now)
  const part = (type) => parts.find((one) => one.type === type).value
  return { day: part('weekday'), time: `${part('hour')}:${part('minute')}` }
}

/** What to tell a visitor at this time. A day has an opening and a closing time, or none. */
export function openState(time, [opens, closes]) {
  if (opens === undefined) return 'Closed today.'
  if (time < opens) return `Closed now. Open today from ${opens} to ${closes}.`
  if (time < closes) return `Open now, until ${closes}.`
  return `Closed now. Today we were open until ${closes}.`
}

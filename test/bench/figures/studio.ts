import type { Page } from 'playwright-core'
import { visit } from '../browser.ts'
import type { Figure, Values } from '../figure.ts'
import { addFinished } from '../finished.ts'
import { OWNER } from '../place.ts'
import type { Made } from '../roles/daemon.ts'
import type { Round } from '../round.ts'

/** The limit is counted, and is never reached. */
const READS = { KEYHOOK_RATE_READS: '1000000' }

const DELIVERIES = 10_000
/** Pixels of a frame, about eight rows: as fast as a wheel is turned. */
const STEP = 400
/** A read takes so long at most, or the list has stopped. */
const STUCK_MS = 20_000

/** When the first page shows what it answers, and when the last long task ended by then. */
const WATCH = `
globalThis.seen = { shown: 0, busyUntil: 0 }
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    if (seen.shown === 0 || startTime < seen.shown) seen.busyUntil = startTime + duration
}).observe({ type: 'longtask', buffered: true })
new MutationObserver((_, observer) => {
  if (document.querySelector('main section h2') === null) return
  seen.shown = performance.now()
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`

const LOADED = `({
  ...seen,
  bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(({ name }) => new URL(name).pathname.startsWith('/studio'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
})`

/** Scrolls with each frame until the end of the list, and tells how long frames took. */
const SCROLL = `new Promise((resolve, reject) => {
  const table = document.querySelector('table[aria-label="Deliveries"]')
  const frames = []
  let before = performance.now(), moved = before, most = 0
  requestAnimationFrame(function next(at) {
    const now = performance.now()
    frames.push(now - before)
    before = now
    most = Math.max(most, table.rows.length)
    const { scrollY, innerHeight } = window
    const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2
    if (!atEnd) moved = now
    if (atEnd && table.getAttribute('aria-rowcount') !== '-1')
      return resolve({ frames: frames.slice(1), rows: Number(table.getAttribute('aria-rowcount')) - 1, most })
    if (now - moved > ${STUCK_MS}) return reject(new Error('the list has stopped'))
    scrollBy(0, ${STEP})
    requestAnimationFrame(next)
  })
})`

async function openStudio(round: Round) {
  const place = await round.place('sqlite')
  const { child, origin } = await round.daemon({ env: { ...place.env, ...READS }, dispatch: true })
  return { place, child, visitor: await visit(round, origin, OWNER) }
}

async function measureLoad(round: Round): Promise<Values> {
  const { child, visitor } = await openStudio(round)
  const page = await visitor.open(WATCH)
  await page.goto(`${visitor.origin}/studio`)
  await page.locator('main section h2').first().waitFor()
  await page.waitForLoadState('networkidle')
  const { bytes, shown, busyUntil } = await page.evaluate<{
    readonly bytes: number
    readonly shown: number
    readonly busyUntil: number
  }>(LOADED)
  await child.end()
  return {
    'gzip KB': bytes / 1000,
    'interactive ms': Math.max(shown, busyUntil),
    'shown ms': shown,
  }
}

async function measureScroll(round: Round): Promise<Values> {
  const { place, child, visitor } = await openStudio(round)
  const { origin: receiver } = await round.receiver()
  const made = await child.call<Made>('make', [{ type: 'app.created', url: `${receiver}/in` }])
  const webhook = made.webhooks[0] ?? ''
  await addFinished(place.file, { webhook, account: visitor.account, count: DELIVERIES })
  const page = await visitor.open('')
  await page.goto(`${visitor.origin}/studio/webhooks/${webhook}`)
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().waitFor()
  await page.waitForLoadState('networkidle')
  const { frames, rows, most } = await scroll(page)
  await child.end()
  if (rows !== DELIVERIES) throw new Error(`the list has ${rows} rows`)
  const sorted = frames.toSorted((a, b) => a - b)
  return {
    'longest frame ms': sorted.at(-1) ?? NaN,
    'p99 frame ms': sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
    'median frame ms': sorted[Math.floor(sorted.length / 2)] ?? NaN,
    frames: frames.length,
    'rows in the page': most,
  }
}

const scroll = (page: Page) =>
  page.evaluate<{
    readonly frames: readonly number[]
    readonly rows: number
    readonly most: number
  }>(SCROLL)

export const studio: readonly Figure[] = [
  {
    name: 'studio-load',
    title: 'first load of Studio in Chromium on this machine, signed in, with an empty cache',
    baseline: null,
    goals: [
      { value: 'gzip KB', at_most: 250 },
      { value: 'interactive ms', at_most: 1000 },
    ],
    takes: 4,
    measure: measureLoad,
  },
  {
    name: 'studio-scroll',
    title: `${DELIVERIES.toLocaleString('en')} deliveries scrolled from the first to the last in Chromium`,
    baseline: null,
    goals: [{ value: 'longest frame ms', at_most: 50 }],
    takes: 20,
    measure: measureScroll,
  },
]

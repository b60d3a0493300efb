import { addLines, idAt, sampleLine } from '../platform/observation-samples.ts'
import type { AccessLine } from '../../plugins/platform/contract/observations.ts'
import { createClock } from './clock.ts'
import { createApp } from './edits.ts'
import { observedWorld } from './observed.ts'
import type { AnyBody, Answer } from './world.ts'

/** Where the clock stands. */
export const NOW = Date.UTC(2026, 1, 3, 12)

/** A page of records. */
export interface Page extends AnyBody {
  readonly data: readonly AnyBody[]
  readonly next_cursor: string | null
}

/** A world whose clock stands still, and an app in it. */
export async function openApp(t: Parameters<typeof observedWorld>[0]) {
  const clock = createClock(NOW)
  const world = await observedWorld(t, { clock })
  const { id } = await createApp(world)
  const { store } = world.platform
  const read = <Body = Page>(path: string): Promise<Answer<Body>> =>
    world.request<Body>('GET', `/v1/apps/${id}${path}`)
  const linesAt = (ago: number, changes: Partial<AccessLine> = {}, count = 1) =>
    addLines(
      store,
      ...Array.from({ length: count }, (_, mark) => ({
        ...sampleLine(0, changes),
        id: idAt(NOW - ago, mark),
        at: NOW - ago,
        app_id: id,
      })),
    )
  return { world, id, store, clock, read, linesAt }
}

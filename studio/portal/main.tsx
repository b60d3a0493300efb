/** The portal: the pages of keys and webhooks for somebody else's customers, in a frame of theirs. */
import type { MantineColorSchemeManager } from '@mantine/core'
import { Suspense } from 'react'
import { show } from '../shell/page.tsx'
import { Portal } from './page.tsx'
import { followLinks, openSession } from './session.ts'

/** A frame of another site may have no storage, and this page keeps nothing. */
const NOTHING_KEPT: MantineColorSchemeManager = {
  get: (byDefault) => byDefault,
  set: () => undefined,
  subscribe: () => undefined,
  unsubscribe: () => undefined,
  clear: () => undefined,
}

const opening = openSession()
followLinks()

show(
  'portal',
  NOTHING_KEPT,
  <Suspense fallback={<main className="alone" aria-busy="true" />}>
    <Portal opening={opening} />
  </Suspense>,
)

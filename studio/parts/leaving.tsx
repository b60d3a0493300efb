import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** How leaving a page goes on. */
export interface Leaving {
  readonly leave: () => void
  readonly stay: () => void
}

/**
 * Asks before a page is left on which something would be lost; the address of the page itself may change. When the
 * whole tab is closed, the browser asks.
 */
export function AskBeforeLeaving({
  when,
  title,
  leave,
  children,
  more,
}: {
  readonly when: boolean
  readonly title: string
  /** Text of the button that leaves. */
  readonly leave: string
  readonly children: ReactNode
  /** Another way to leave. */
  readonly more?: (way: Leaving) => ReactNode
}) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: () => when,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  const way = { leave: blocker.proceed, stay: blocker.reset }
  return (
    <Modal opened onClose={way.stay} title={title}>
      {children}
      <div className="buttons">
        <Button variant="default" onClick={way.stay}>
          Stay here
        </Button>
        {more?.(way)}
        <Button onClick={way.leave}>{leave}</Button>
      </div>
    </Modal>
  )
}

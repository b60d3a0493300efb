import { Button, Modal } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'

/** A question before an action: what it does, and a button that says so. */
export function Dialog({
  title,
  action,
  act,
  close,
  dangerous = false,
  ready = true,
  children,
}: {
  readonly title: string
  /** A verb and its object: the text of the button. */
  readonly action: string
  readonly act: Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'isPending' | 'error'>
  readonly close: () => void
  readonly dangerous?: boolean
  readonly ready?: boolean
  readonly children: ReactNode
}) {
  // What is under way goes on without the dialog, and its answer may be a value that is shown once.
  const leave = act.isPending ? () => undefined : close
  return (
    <Modal opened onClose={leave} title={title}>
      {children}
      {act.error !== null && <Problem error={act.error} />}
      <div className="buttons">
        <Button variant="default" disabled={act.isPending} onClick={close}>
          Cancel
        </Button>
        <Button
          {...(dangerous ? { color: 'red' } : {})}
          disabled={!ready}
          loading={act.isPending}
          onClick={() => act.mutate()}
        >
          {action}
        </Button>
      </div>
    </Modal>
  )
}

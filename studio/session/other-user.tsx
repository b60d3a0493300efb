import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { OtherUserError, session } from './session.ts'

/** Covers the page once another tab signed in as another user: nothing of it may be used any more. */
export function OtherUser() {
  const { error } = useQuery(session)
  if (!(error instanceof OtherUserError)) return null
  return (
    <Modal
      opened
      onClose={reload}
      title="Another user is signed in"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      zIndex={500}
    >
      <p>{error.message}</p>
      <div className="buttons">
        <Button onClick={reload}>Reload page</Button>
      </div>
    </Modal>
  )
}

/** The first page: the record shown now may be of the other account. */
function reload(): void {
  location.assign(document.baseURI)
}

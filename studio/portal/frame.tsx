import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Problem } from '../parts/problem.tsx'
import type { Place } from '../search/places.ts'
import { Layout } from '../shell/frame.tsx'
import { endSession } from './session.ts'

/** The rail, the bar and the way to end the session, around the pages of the portal. */
export function PortalFrame({
  places,
  ended,
}: {
  readonly places: readonly Place[]
  readonly ended: () => void
}) {
  const end = useMutation({ mutationFn: endSession, onSuccess: ended })
  return (
    <>
      <Layout
        of={places}
        part=""
        menu={
          <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
            End session
          </Button>
        }
      />
      {end.error !== null && <Problem error={end.error} />}
    </>
  )
}

import { Button } from '@mantine/core'
import { ApiError } from 'keyhook/client'
import { Copyable } from './copyable.tsx'
import { Icon } from './icon.tsx'

/** The error's sentence, its code, its request id and a way to try again. */
export function Problem({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => void
}) {
  const known = error instanceof ApiError ? error : undefined
  return (
    <div role="alert" className="problem">
      <Icon name="failed" />
      <div>
        <p>{sentenceOf(error)}</p>
        {known !== undefined && (
          <p className="quiet">
            Code <code>{known.code}</code>
            {known.requestId !== undefined && (
              <>
                , request <Copyable text={known.requestId} what="request id" />
              </>
            )}
          </p>
        )}
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  )
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'connection_failed' && !navigator.onLine)
    return 'You are offline. Nothing was sent.'
  return error.message
}

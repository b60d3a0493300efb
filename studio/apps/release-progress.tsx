import { Button } from '@mantine/core'
import type { Deployment } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useFollowed } from '../api/follow.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { Progress } from '../parts/progress.tsx'

/** A release on its way, as its stream tells it, and the way to stop it. */
export function ReleaseProgress({ of: deployment }: { readonly of: Deployment }) {
  const { app_id, id: deployment_id, release } = deployment
  const { lines, state = deployment } = useFollowed<Deployment>(
    `/v1/apps/${app_id}/deployments/${deployment_id}/events`,
  )
  const cancel = useAct(() => api.deploy.cancel({ app_id, deployment_id }))
  const words = lines.at(-1)?.message ?? `Release ${release} begins in a moment.`
  return (
    <>
      <Progress label={`Progress of release ${release}`} words={words} {...state.progress} />
      {cancel.error !== null && <Problem error={cancel.error} />}
      {state.available_actions.includes('cancel') && (
        <Button
          size="xs"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(undefined)}
        >
          Cancel release
        </Button>
      )}
    </>
  )
}

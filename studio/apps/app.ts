import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { App } from '../api/client.ts'
import { api } from '../api/client.ts'

/** An app; what changes by itself is followed. */
export function appQuery(app_id: string) {
  return queryOptions({
    queryKey: ['apps', 'get', app_id],
    queryFn: () => api.apps.get({ app_id }),
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'creating' || data?.publish_state === 'publishing' ? 5000 : 30_000,
  })
}

/** The app of a page inside its frame, which has read it. */
export function useApp(): App {
  const { appId } = useParams({ from: '/inside/apps/$appId' })
  return useSuspenseQuery(appQuery(appId)).data
}

/** The state of an app in a word of `State`: what its address serves, unless there is no app yet. */
export function stateOf({ status, publish_state }: App): string {
  return status === 'ready' ? publish_state : status
}

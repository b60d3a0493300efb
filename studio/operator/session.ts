import { queryOptions } from '@tanstack/react-query'
import { operatorApi } from '../api/client.ts'

/** Until when this browser acts for the operator. The token itself is nowhere in the page. */
export const operatorSession = queryOptions({
  queryKey: ['operator', 'session'],
  queryFn: () => operatorApi().operator.session(),
  staleTime: 60_000,
})

import type { UseMutationResult } from '@tanstack/react-query'
import { useMutation, useQueryClient } from '@tanstack/react-query'

/** An action of the operator; afterwards everything of theirs is read again. */
export function useOperatorAct<Given>(
  act: (given: Given) => Promise<unknown>,
  then?: () => void,
): UseMutationResult<unknown, Error, Given> {
  const queries = useQueryClient()
  return useMutation<unknown, Error, Given>({
    mutationFn: act,
    async onSuccess() {
      then?.()
      await queries.invalidateQueries({ queryKey: ['operator'] })
    },
  })
}

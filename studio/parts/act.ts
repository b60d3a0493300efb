import type { UseMutationResult } from '@tanstack/react-query'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useConfirm } from '../session/confirm.tsx'

/**
 * An action of a person, checked and confirmed as their session needs it; afterwards every list is read again.
 */
export function useAct<Given, Answer>(
  act: (given: Given) => Promise<Answer>,
  then?: (answer: Answer, given: Given) => void,
): UseMutationResult<Answer, Error, Given> {
  const confirm = useConfirm()
  const queries = useQueryClient()
  return useMutation<Answer, Error, Given>({
    mutationFn: (given) => confirm(() => act(given)),
    async onSuccess(answer, given) {
      then?.(answer, given)
      await queries.invalidateQueries()
    },
  })
}

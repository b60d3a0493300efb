import type { UseMutationResult } from '@tanstack/react-query'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useConfirm } from '../session/confirm.tsx'
import { requireSameUser } from '../session/session.ts'

/**
 * An action of a person: of the user whose page this is, confirmed in place where needed; afterwards every list is read
 * again.
 */
export function useAct<Given, Answer>(
  act: (given: Given) => Promise<Answer>,
  then?: (answer: Answer) => void,
): UseMutationResult<Answer, Error, Given> {
  const confirm = useConfirm()
  const queries = useQueryClient()
  return useMutation<Answer, Error, Given>({
    mutationFn: (given) =>
      confirm(async () => {
        await requireSameUser()
        return act(given)
      }),
    async onSuccess(answer) {
      then?.(answer)
      await queries.invalidateQueries()
    },
  })
}

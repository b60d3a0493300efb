import type { UseQueryResult } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'

type Pricing = Awaited<ReturnType<typeof api.billing.pricing>>

/** The prices in effect. */
export function usePricing(): UseQueryResult<Pricing> {
  return useQuery({ queryKey: ['billing', 'pricing'], queryFn: () => api.billing.pricing() })
}

import { Radio } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'

/** One of the built-in templates; the choice is in the address. */
export function Templates({ chosen }: { readonly chosen: string }) {
  const navigate = useNavigate()
  const templates = useQuery({
    queryKey: ['apps', 'templates'],
    queryFn: () => api.apps.templates(),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Loaded query={templates}>
      {({ data }) => (
        <Radio.Group
          label="Template"
          value={chosen}
          className="choices"
          onChange={(template) =>
            void navigate({ to: '.', search: { template } as never, replace: true })
          }
        >
          {data.map(({ id, name, description }) => (
            <Radio key={id} value={id} label={name} description={description} />
          ))}
        </Radio.Group>
      )}
    </Loaded>
  )
}

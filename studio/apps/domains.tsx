import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Empty } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useApp } from './app.ts'
import { DomainView } from './domain.tsx'

/** Hostnames of the person's own: the records to set, and what was found of them. */
export function Page() {
  const { id: app_id } = useApp()
  const query = useQuery({
    queryKey: ['settings', 'list_domains', app_id],
    queryFn: () => api.settings.listDomains({ app_id, limit: 20 }),
    refetchInterval: 10_000,
  })
  return (
    <>
      <AddDomain app={app_id} />
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty command="keyhook domain create <app> --hostname shop.example.com">
              Add a hostname of yours, and this page shows the records to set where you manage it.
            </Empty>
          ) : (
            data.map((domain) => <DomainView key={domain.id} of={domain} />)
          )
        }
      </Loaded>
    </>
  )
}

function AddDomain({ app: app_id }: { readonly app: string }) {
  const [hostname, setHostname] = useState('')
  const create = useAct(
    () => api.settings.createDomain({ app_id, hostname }),
    () => setHostname(''),
  )
  return (
    <form
      className="find"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        create.mutate(undefined)
      }}
    >
      <TextInput
        aria-label="Hostname"
        placeholder="shop.example.com"
        required
        maxLength={300}
        value={hostname}
        error={create.error !== null && <Problem error={create.error} />}
        onChange={(event) => setHostname(event.currentTarget.value)}
      />
      <Button type="submit" loading={create.isPending}>
        Add domain
      </Button>
    </form>
  )
}

import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useApp } from './app.ts'
import { Archive } from './archive.tsx'

/** Name and address; services and sign-in, which nothing uses yet. */
export function Page() {
  const app = useApp()
  return (
    <>
      <Section title="Name and address">
        <Naming key={app.updated_at} />
        <Facts of={[['Id', <Copyable key="id" text={app.id} what="id" />]]} />
      </Section>
      <Section title="Services">
        <p className="quiet">Not available yet: services are stored, and no app can use them.</p>
        <Services app={app.id} />
      </Section>
      <Section title="Sign-in of the app’s users">
        <p className="quiet">
          Not available yet: these settings are stored, and an app with sign-in cannot be published.
        </p>
        <SignIn app={app.id} />
      </Section>
      <Section title="Archive">
        <Archive />
      </Section>
    </>
  )
}

function Naming() {
  const app = useApp()
  const [name, setName] = useState(app.name)
  const [alias, setAlias] = useState(app.alias ?? '')
  const save = useAct(() =>
    api.apps.update({ app_id: app.id, name, alias: alias === '' ? null : alias }),
  )
  return (
    <form
      className="form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        save.mutate(undefined)
      }}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Alias"
        description="The name that the address begins with. Without one it is the id."
        value={alias}
        onChange={(event) => setAlias(event.currentTarget.value)}
      />
      {save.error !== null && <Problem error={save.error} />}
      <div className="buttons">
        <Button
          type="submit"
          variant="default"
          disabled={name === app.name && alias === (app.alias ?? '')}
          loading={save.isPending}
        >
          Save name and alias
        </Button>
      </div>
    </form>
  )
}

function Services({ app: app_id }: { readonly app: string }) {
  const query = useQuery({
    queryKey: ['settings', 'list_services', app_id],
    queryFn: () => api.settings.listServices({ app_id, limit: 100 }),
  })
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <p>None is stored.</p>
        ) : (
          <ul aria-label="Services">
            {data.map(({ service, kind }) => (
              <li key={service}>
                <code>{service}</code> {kind}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function SignIn({ app: app_id }: { readonly app: string }) {
  const query = useQuery({
    queryKey: ['settings', 'get_auth', app_id],
    queryFn: () => api.settings.getAuth({ app_id }),
  })
  return (
    <Loaded query={query}>
      {({ enabled, providers, signup }) => (
        <Facts
          of={[
            ['Sign-in', enabled ? 'On' : 'Off'],
            ['Providers', providers.join(', ') || 'None'],
            ['Who may sign up', signup],
          ]}
        />
      )}
    </Loaded>
  )
}

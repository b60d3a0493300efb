import { Button, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { PageFrame, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameRequest } from '../parts/same-request.tsx'
import { quote } from '../parts/shell.ts'
import { ShownOnce } from '../parts/shown-once.tsx'
import { ReceiverCode } from '../receivers/code.tsx'
import { SendTest } from './send-test.tsx'
import { EventTypes } from './types.tsx'

const WEBHOOKS = [{ name: 'Webhooks', to: '/webhooks' }]

export function Page() {
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  const [events, setEvents] = useState<readonly string[]>([])
  const body = {
    url,
    events: [...events],
    ...(description === '' ? {} : { description }),
  }
  const create = useAct(() => api.webhooks.create(body))
  const command = [
    `keyhook webhook create --url ${quote(url === '' ? '…' : url)} --events ${quote(events.join(','))}`,
    ...(description === '' ? [] : [`--description ${quote(description)}`]),
  ].join(' ')
  const created = create.data
  return (
    <PageFrame title="New webhook" crumbs={WEBHOOKS}>
      {created !== undefined && (
        <>
          <ShownOnce what="signing secret" value={created.secret} variable="WEBHOOK_SECRETS">
            <Button component={Link} to={`/webhooks/${created.id}`} variant="default">
              Show the webhook’s page
            </Button>
          </ShownOnce>
          <Section title="Does the receiver work?">
            <SendTest webhook={created.id} />
          </Section>
          {created.type === 'https' && (
            <Section title="Receiver code">
              <ReceiverCode of={created} />
            </Section>
          )}
        </>
      )}
      {created === undefined && (
        <form
          className="form"
          onSubmit={(event: SubmitEvent) => {
            event.preventDefault()
            create.mutate(undefined)
          }}
        >
          <TextInput
            label="Address"
            description="A public https address, or a destination that the operator declares."
            placeholder="https://example.com/in"
            required
            maxLength={2048}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <TextInput
            label="Description (optional)"
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <EventTypes chosen={events} choose={setEvents} />
          {create.error !== null && <Problem error={create.error} />}
          <div className="buttons">
            {events.length === 0 && <span className="quiet">Choose at least one type.</span>}
            <Button type="submit" loading={create.isPending} disabled={events.length === 0}>
              Add webhook
            </Button>
          </div>
          <SameRequest method="POST" path="/v1/webhooks" body={body} command={command} />
        </form>
      )}
    </PageFrame>
  )
}

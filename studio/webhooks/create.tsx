import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { PageFrame, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameRequest } from '../parts/same-request.tsx'
import { quote } from '../parts/shell.ts'
import { ShownOnce } from '../parts/shown-once.tsx'
import { State } from '../parts/state.tsx'
import { ReceiverCode } from '../receivers/code.tsx'
import { Address } from './address.tsx'
import { LeavingNew } from './leaving-new.tsx'
import { Apps, Headers, Limits } from './more-settings.tsx'
import { useNewWebhook } from './new-webhook.ts'
import { SendTest, TestResult } from './send-test.tsx'
import type { Settings } from './settings-of.ts'
import { creationOf, missingIn } from './settings-of.ts'
import { EventTypes } from './types.tsx'

const WEBHOOKS = [{ name: 'Webhooks', to: '/webhooks' }]

export function Page() {
  const made = useNewWebhook()
  const { webhook, secret, tested } = made
  const [isKept, setKept] = useState(false)
  const isStarted = webhook?.status === 'active'
  return (
    <PageFrame
      title="New webhook"
      crumbs={WEBHOOKS}
      state={webhook && <State of={isStarted ? 'active' : 'tests only'} />}
    >
      {webhook !== undefined && secret !== undefined && (
        <ShownOnce
          what="signing secret"
          value={secret}
          variable="WEBHOOK_SECRETS"
          kept={() => setKept(true)}
        >
          {isStarted && (
            <Button component={Link} to={`/webhooks/${webhook.id}`} variant="default">
              Show the webhook’s page
            </Button>
          )}
        </ShownOnce>
      )}
      {webhook !== undefined && (
        <Section title={isStarted ? 'Events are sent from now on' : 'Does the receiver work?'}>
          {isStarted ? <SendTest of={webhook} /> : <TestResult of={tested} url={webhook.url} />}
        </Section>
      )}
      {!isStarted && <Form of={made} />}
      {webhook?.type === 'https' && (
        <Section title="Receiver code">
          <ReceiverCode of={webhook} />
        </Section>
      )}
      {webhook !== undefined && <LeavingNew of={webhook} isKept={isKept} />}
    </PageFrame>
  )
}

/** It stays after the test: what is wrong is changed, and tested again. */
function Form({ of: made }: { readonly of: ReturnType<typeof useNewWebhook> }) {
  const { settings, change, webhook, tested, isBusy, error, take } = made
  const missing = missingIn(settings)
  const works = tested?.status === 'succeeded'
  return (
    <form
      className="form section"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        take('test')
      }}
    >
      <Address of={settings} change={change} />
      <EventTypes chosen={settings.events} choose={(events) => change({ events })} />
      <details className="more">
        <summary>Apps, headers of your own, limits</summary>
        <Apps of={settings} change={change} />
        <Headers of={settings} stored={[]} change={change} />
        <Limits of={settings} change={change} />
      </details>
      {error !== null && <Problem error={error} />}
      <p className="quiet">
        {missing ??
          (webhook === undefined
            ? 'The test adds the webhook disabled: nothing but tests is sent before you start.'
            : 'Nothing but tests is sent yet.')}
      </p>
      <div className="buttons">
        <Button
          type="submit"
          variant={works ? 'default' : 'filled'}
          loading={isBusy}
          disabled={missing !== undefined}
        >
          {webhook === undefined ? 'Send a test' : 'Send another test'}
        </Button>
        <Button
          variant={works ? 'filled' : 'default'}
          disabled={missing !== undefined || isBusy || settings.url === ''}
          onClick={() => take('start')}
        >
          {webhook === undefined ? 'Add without a test' : 'Start sending'}
        </Button>
      </div>
      {webhook === undefined && (
        <SameRequest
          method="POST"
          path="/v1/webhooks"
          body={creationOf(settings)}
          command={commandOf(settings)}
        />
      )}
    </form>
  )
}

function commandOf({ url, events, description }: Settings): string {
  return [
    `keyhook webhook create --url ${quote(url === '' ? '…' : url)} --events ${quote(events.join(','))}`,
    ...(description === '' ? [] : [`--description ${quote(description)}`]),
  ].join(' ')
}

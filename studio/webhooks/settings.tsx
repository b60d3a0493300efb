import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { AskBeforeLeaving } from '../parts/leaving.tsx'
import { Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useReach } from '../shell/reach.ts'
import { Address } from './address.tsx'
import { WebhookFrame } from './frame.tsx'
import { Apps, Headers, Limits, MoreHeaders } from './more-settings.tsx'
import type { Settings } from './settings-of.ts'
import { changesBetween, isRedirected, missingIn, settingsOf } from './settings-of.ts'
import { EventTypes } from './types.tsx'

export function Page() {
  return (
    <WebhookFrame>
      {(webhook) => (
        <>
          <Form key={webhook.id} of={webhook} />
          <Section title="Delete">
            <Delete of={webhook} />
          </Section>
        </>
      )}
    </WebhookFrame>
  )
}

/** What is typed stays as it is, whatever the service says and whoever else changes the webhook meanwhile. */
function Form({ of: webhook }: { readonly of: Webhook }) {
  const [saved, setSaved] = useState(() => settingsOf(webhook))
  const [settings, setSettings] = useState(saved)
  const change = (changes: Partial<Settings>): void => setSettings({ ...settings, ...changes })
  const changes = changesBetween(saved, settings)
  const save = useAct<Settings, Webhook>(
    (sent) => api.webhooks.update({ webhook_id: webhook.id, ...changesBetween(saved, sent) }),
    (updated, sent) => {
      setSaved(settingsOf(updated))
      // What was typed since then is not saved yet.
      setSettings((now) => (now === sent ? settingsOf(updated) : now))
    },
  )
  const { isStudio } = useReach()
  const isChanged = Object.keys(changes).length > 0
  // It sends the updates of one task of A2A, whose key gives it another address.
  const isOfTask = webhook.events.length === 0
  const missing = isOfTask ? undefined : missingIn(settings)
  const losesHeaders =
    webhook.header_names.length > 0 &&
    settings.headers === null &&
    originOf(settings.url) !== originOf(saved.url)
  return (
    <form
      className="form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        save.mutate(settings)
      }}
    >
      <Address of={settings} fixed={isOfTask} change={change} />
      {isOfTask ? (
        <p>It sends the updates of one A2A task. The key of the task decides where to.</p>
      ) : (
        <>
          <EventTypes chosen={settings.events} choose={(events) => change({ events })} />
          <Apps of={settings} change={change} />
        </>
      )}
      {webhook.type === 'https' && (
        <>
          <Headers of={settings} stored={webhook.header_names} change={change} />
          {losesHeaders && (
            <p role="status">Another host gets none of these headers, unless you replace them.</p>
          )}
        </>
      )}
      <Limits of={settings} change={change} />
      <MoreHeaders of={settings} change={change} />
      {save.error !== null && <Problem error={save.error} />}
      <div className="save">
        <p role="status">
          {missing ??
            (isChanged ? savingOf(changes, isStudio) : save.data === undefined ? '' : 'Saved.')}
        </p>
        <div className="buttons">
          <Button
            type="submit"
            loading={save.isPending}
            disabled={!isChanged || missing !== undefined}
          >
            Save settings
          </Button>
          <Button
            variant="default"
            disabled={!isChanged || save.isPending}
            onClick={() => {
              setSettings(saved)
              save.reset()
            }}
          >
            Discard changes
          </Button>
        </div>
      </div>
      <AskBeforeLeaving when={isChanged} title="Leave without saving?" leave="Discard changes">
        <p>The settings that you changed are not saved.</p>
      </AskBeforeLeaving>
    </form>
  )
}

/** What saving asks for; nobody has a password in the portal. */
function savingOf(changes: Parameters<typeof isRedirected>[0], isStudio: boolean): string {
  return isStudio && isRedirected(changes)
    ? 'Not saved yet. Where events are sent, and which, is changed with your password, unless you gave it in the last ten minutes.'
    : 'Not saved yet.'
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

function Delete({ of: webhook }: { readonly of: Webhook }) {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  const end = useAct<void, unknown>(
    () => api.webhooks.delete({ webhook_id: webhook.id }),
    () => void navigate({ to: '/webhooks', ignoreBlocker: true }),
  )
  return (
    <>
      <p>Deliveries that wait are canceled, and what was delivered is not shown any more.</p>
      <Button variant="default" color="red" onClick={() => setOpen(true)}>
        Delete webhook…
      </Button>
      {isOpen && (
        <Dialog
          title="Delete the webhook"
          action="Delete webhook"
          act={end}
          close={() => setOpen(false)}
          dangerous
        >
          <p>
            Nothing is sent to <code>{webhook.url}</code> any more. To stop it for a while, disable
            it instead.
          </p>
        </Dialog>
      )}
    </>
  )
}

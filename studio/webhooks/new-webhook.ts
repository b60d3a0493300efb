import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import type { Settings } from './settings-of.ts'
import { NO_SETTINGS, changesBetween, creationOf } from './settings-of.ts'

/** What a person does with the form of a new webhook: test it, or have it sent events. */
type Step = 'test' | 'start'

const STATUS = { test: 'disabled', start: 'active' } as const

/**
 * A new webhook. Its first test makes it, disabled, so that nothing but tests is sent before it works. What is changed
 * afterwards is saved with the next test, or with the start.
 */
export function useNewWebhook() {
  const [settings, setSettings] = useState(NO_SETTINGS)
  const [saved, setSaved] = useState(NO_SETTINGS)
  const [webhook, setWebhook] = useState<Webhook>()
  const test = useAct((webhook_id: string) => api.webhooks.test({ webhook_id }))

  function keep(made: Webhook, step: Step): void {
    // The service may write the address in another way.
    const kept: Settings = { ...settings, url: made.url }
    setSettings(kept)
    setSaved(kept)
    setWebhook(made)
    if (step === 'test') test.mutate(made.id)
  }

  const create = useAct(
    (step: Step) => api.webhooks.create({ ...creationOf(settings), status: STATUS[step] }),
    (made) => keep(made, made.status === 'active' ? 'start' : 'test'),
  )
  const update = useAct(
    async ({ step, of }: { readonly step: Step; readonly of: Webhook }) => {
      const started = step === 'start' ? ({ status: 'active' } as const) : {}
      const changes = { ...changesBetween(saved, settings), ...started }
      if (Object.keys(changes).length === 0) return { step, updated: of }
      return { step, updated: await api.webhooks.update({ webhook_id: of.id, ...changes }) }
    },
    ({ step, updated }) => keep(updated, step),
  )
  return {
    settings,
    change: (changes: Partial<Settings>): void => setSettings({ ...settings, ...changes }),
    webhook,
    secret: create.data?.secret,
    /** What the latest test came to; undefined while another is under way. */
    tested: test.data,
    isBusy: create.isPending || update.isPending || test.isPending,
    error: create.error ?? update.error ?? test.error,
    take: (step: Step): void =>
      webhook === undefined ? create.mutate(step) : update.mutate({ step, of: webhook }),
  }
}

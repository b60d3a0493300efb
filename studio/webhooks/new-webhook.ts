import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import type { Settings } from './settings-of.ts'
import { NO_SETTINGS, changesBetween, creationOf } from './settings-of.ts'

/** What a person does with the form of a new webhook: test it, or have it sent events. */
type Step = 'test' | 'start'

interface Submitted {
  readonly step: Step
  readonly sent: Settings
}

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

  /** What was sent is saved; what was typed since then stays, and is not. */
  function keep(made: Webhook, { step, sent }: Submitted): void {
    // The service may write the address in another way.
    setSettings((now) => (now.url === sent.url ? { ...now, url: made.url } : now))
    setSaved({ ...sent, url: made.url })
    setWebhook(made)
    if (step === 'test') test.mutate(made.id)
  }

  const create = useAct(
    ({ step, sent }: Submitted) =>
      api.webhooks.create({ ...creationOf(sent), status: STATUS[step] }),
    keep,
  )
  const update = useAct(async ({ step, sent, of }: Submitted & { readonly of: Webhook }) => {
    const started = step === 'start' ? ({ status: 'active' } as const) : {}
    const changes = { ...changesBetween(saved, sent), ...started }
    if (Object.keys(changes).length === 0) return of
    return api.webhooks.update({ webhook_id: of.id, ...changes })
  }, keep)
  const isSaved = Object.keys(changesBetween(saved, settings)).length === 0
  return {
    settings,
    change: (changes: Partial<Settings>): void => setSettings((now) => ({ ...now, ...changes })),
    webhook,
    secret: create.data?.secret,
    /** What the latest test came to; undefined while another is under way, and once something else was typed. */
    tested: isSaved ? test.data : undefined,
    isBusy: create.isPending || update.isPending || test.isPending,
    error: create.error ?? update.error ?? test.error,
    take: (step: Step): void =>
      webhook === undefined
        ? create.mutate({ step, sent: settings })
        : update.mutate({ step, sent: settings, of: webhook }),
  }
}

import { Button, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { useApp } from './app.ts'
import { Price } from './price.tsx'

/** Asks a language model to change the app; the price is said before. */
export function PromptForm() {
  const { id: app_id } = useApp()
  const [prompt, setPrompt] = useState('')
  // The price does not depend on what the prompt says.
  const price = useQuery({
    queryKey: ['edits', 'create', 'price', app_id],
    queryFn: () => api.edits.create({ app_id, prompt: 'The price', dry_run: 'true' }),
  })
  const create = useAct(
    () => api.edits.create({ app_id, prompt }),
    () => setPrompt(''),
  )
  return (
    <form
      className="prompt"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        create.mutate(undefined)
      }}
    >
      <Textarea
        label="What shall change?"
        placeholder="Make the headline green, and add our opening hours."
        required
        rows={4}
        value={prompt}
        onChange={(event) => setPrompt(event.currentTarget.value)}
      />
      {create.error !== null && <Problem error={create.error} />}
      <div className="buttons">
        <Price query={price} />
        <Button type="submit" loading={create.isPending}>
          Edit app
        </Button>
      </div>
    </form>
  )
}

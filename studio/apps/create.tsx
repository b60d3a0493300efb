import { Button, Radio, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { PageFrame } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameRequest } from '../parts/same-request.tsx'
import { quote } from '../parts/shell.ts'
import { DropZone } from './drop-zone.tsx'
import { Price } from './price.tsx'
import { Templates } from './templates.tsx'

const APPS = [{ name: 'Apps', to: '/apps' }]

/** From a template, or from a prompt with files or without. */
export function Page() {
  const { from, template = 'landing' } = useSearch({ from: '/inside/apps/new' })
  const isPrompt = from === 'prompt'
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [alias, setAlias] = useState('')
  const [prompt, setPrompt] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])
  const source = isPrompt
    ? { prompt, ...(files.length === 0 ? {} : { files }) }
    : { template_id: template }
  const named = {
    ...(name === '' ? {} : { name }),
    ...(alias === '' ? {} : { alias }),
  }
  const create = useAct(
    () => api.apps.create({ ...source, ...named }),
    ({ id }) => void navigate({ to: '/apps/$appId', params: { appId: id } }),
  )
  const choose = (next: string): void =>
    void navigate({
      to: '.',
      search: next === 'prompt' ? { from: 'prompt' } : {},
      replace: true,
    })
  return (
    <PageFrame title="New app" crumbs={APPS}>
      <form
        className="form"
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault()
          create.mutate(undefined)
        }}
      >
        <Radio.Group
          label="Begin with"
          value={isPrompt ? 'prompt' : 'template'}
          onChange={choose}
          className="choices"
        >
          <Radio value="template" label="A template" />
          <Radio value="prompt" label="A prompt" />
        </Radio.Group>
        {isPrompt ? (
          <>
            <Textarea
              label="What shall it be?"
              description="A language model writes the app. You can change it with further prompts."
              placeholder="A landing page for a bakery, with opening hours and a contact form."
              required
              rows={5}
              value={prompt}
              onChange={(event) => setPrompt(event.currentTarget.value)}
            />
            <DropZone
              label="Files to begin with (optional)"
              chosen={files}
              choose={setFiles}
              hint="Pages, styles, pictures: each becomes a file of the app. 10 MiB in all."
            />
          </>
        ) : (
          <Templates chosen={template} />
        )}
        <TextInput
          label="Name (optional)"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="Alias (optional)"
          description="The name that the address begins with: 3 to 63 lower-case letters, digits and hyphens."
          value={alias}
          onChange={(event) => setAlias(event.currentTarget.value)}
        />
        {create.error !== null && <Problem error={create.error} />}
        {isPrompt && <CreationPrice />}
        <div className="buttons">
          <Button type="submit" loading={create.isPending}>
            Create app
          </Button>
        </div>
        <SameRequest
          method="POST"
          path="/v1/apps"
          body={isPrompt ? { prompt, ...named } : { ...source, ...named }}
          command={commandOf({ prompt: isPrompt ? prompt : undefined, template, name, alias })}
        />
      </form>
    </PageFrame>
  )
}

/** The price does not depend on what the prompt says. */
function CreationPrice() {
  const price = useQuery({
    queryKey: ['apps', 'create', 'price'],
    queryFn: () => api.apps.create({ prompt: 'The price', dry_run: 'true' }),
  })
  return <Price query={price} />
}

interface Given {
  readonly prompt: string | undefined
  readonly template: string
  readonly name: string
  readonly alias: string
}

function commandOf({ prompt, template, name, alias }: Given): string {
  return [
    'keyhook app create',
    prompt === undefined
      ? `--template-id ${quote(template)}`
      : `--prompt ${quote(prompt === '' ? '…' : prompt)}`,
    ...(name === '' ? [] : [`--name ${quote(name)}`]),
    ...(alias === '' ? [] : [`--alias ${quote(alias)}`]),
  ].join(' ')
}

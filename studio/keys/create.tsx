import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { PageFrame } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameRequest } from '../parts/same-request.tsx'
import { quote } from '../parts/shell.ts'
import { useReach } from '../shell/reach.ts'
import { ShownOnce } from '../parts/shown-once.tsx'
import { PRESETS, ScopeTree } from './scopes.tsx'

const DAY = 86_400_000
const LIVES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'Never'],
] as const

const KEYS = [{ name: 'Keys', to: '/keys' }]

export function Page() {
  const { delegable } = useReach()
  return (
    <PageFrame title="New key" crumbs={KEYS}>
      {delegable === undefined ? <FormOfAll /> : <Form scopes={delegable} />}
    </PageFrame>
  )
}

function FormOfAll() {
  const service = useQuery({ queryKey: ['discovery', 'show'], queryFn: () => api.discovery.show() })
  return <Loaded query={service}>{({ scopes }) => <Form scopes={scopes} />}</Loaded>
}

function Form({ scopes: all }: { readonly scopes: readonly string[] }) {
  const { isStudio, may } = useReach()
  const presets = PRESETS.filter(([, given]) => given.every(may))
  const [name, setName] = useState('')
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [apps, setApps] = useState<readonly string[]>([])
  const [days, setDays] = useState('30')
  const [opened] = useState(() => Date.now())
  const body = {
    name,
    scopes: [...chosen],
    ...(apps.length === 0 ? {} : { apps: [...apps] }),
    ...(days === '' ? {} : { expires_at: new Date(opened + Number(days) * DAY).toISOString() }),
  }
  const create = useAct(() => api.keys.create(body))
  if (create.data !== undefined) {
    return (
      <ShownOnce what="key" value={create.data.key} variable="KEYHOOK_KEY">
        <Button component={Link} to={`/keys/${create.data.id}`} variant="default">
          Show the key’s page
        </Button>
      </ShownOnce>
    )
  }
  return (
    <form
      className="form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        create.mutate(undefined)
      }}
    >
      <TextInput
        label="Name"
        description="What uses it, so that you know it later."
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {presets.length > 0 && (
        <div role="group" aria-label="Presets" className="presets">
          {presets.map(([preset, given]) => (
            <Button key={preset} size="xs" variant="default" onClick={() => choose(new Set(given))}>
              {preset}
            </Button>
          ))}
        </div>
      )}
      <ScopeTree all={all} chosen={chosen} choose={choose} />
      {isStudio && <Pins chosen={apps} choose={setApps} />}
      <NativeSelect
        label="Expires after"
        value={days}
        data={LIVES.map(([value, label]) => ({ value, label }))}
        onChange={(event) => setDays(event.currentTarget.value)}
      />
      {create.error !== null && <Problem error={create.error} />}
      <div className="buttons">
        {chosen.size === 0 && <span className="quiet">Choose at least one scope.</span>}
        <Button type="submit" loading={create.isPending} disabled={chosen.size === 0}>
          Create key
        </Button>
      </div>
      <SameRequest method="POST" path="/v1/keys" body={body} command={commandOf(body)} />
    </form>
  )
}

interface Given {
  readonly name: string
  readonly scopes: readonly string[]
  readonly apps?: readonly string[]
  readonly expires_at?: string
}

function commandOf({ name, scopes, apps, expires_at }: Given): string {
  return [
    `keyhook key create --name ${quote(name === '' ? '…' : name)} --scopes ${quote(scopes.join(','))}`,
    ...(apps === undefined ? [] : [`--apps ${apps.join(',')}`]),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
  ].join(' ')
}

function Pins({
  chosen,
  choose,
}: {
  readonly chosen: readonly string[]
  readonly choose: (apps: readonly string[]) => void
}) {
  const { data } = useQuery({
    queryKey: ['apps', 'list', 'pins'],
    queryFn: () => api.apps.list({ limit: 100 }),
  })
  if (data === undefined || data.data.length === 0) return null
  return (
    <fieldset className="pins">
      <legend>Apps</legend>
      <p className="quiet">
        {chosen.length === 0 ? 'Every app, also later ones.' : 'Only these apps.'}
      </p>
      {data.data.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={chosen.includes(id)}
          onChange={() =>
            choose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
          }
        />
      ))}
    </fieldset>
  )
}

import { Button, Checkbox, Radio, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { api } from '../api/client.ts'
import { Tokens } from '../parts/tokens.tsx'
import { useReach } from '../shell/reach.ts'
import type { Header, Settings } from './settings-of.ts'
import { repeatedIn } from './settings-of.ts'
import './settings.css'

type Change = (changes: Partial<Settings>) => void

interface Part {
  readonly of: Settings
  readonly change: Change
}

const MOST_APPS = 100

/** Which apps' events are sent. */
export function Apps({ of: { apps }, change }: Part) {
  const { may } = useReach()
  const query = useQuery({
    queryKey: ['apps', 'list', 'proposed'],
    queryFn: () => api.apps.list({ limit: 100 }),
    enabled: apps !== null && may('apps:read'),
  })
  return (
    <fieldset className="choices">
      <legend>Apps</legend>
      <Radio.Group
        aria-label="Apps"
        value={apps === null ? 'all' : 'some'}
        onChange={(value) => change({ apps: value === 'all' ? null : [] })}
      >
        <Radio value="all" label="Events of every app, and those without an app" />
        <Radio value="some" label="Only events of these apps" />
      </Radio.Group>
      {apps !== null && (
        <Tokens
          label="App ids"
          example="Id of an app"
          values={apps}
          most={MOST_APPS}
          proposed={(query.data?.data ?? []).map(({ id, name }) => ({
            value: id,
            text: `${name} (${id})`,
          }))}
          change={(values) => change({ apps: values })}
        />
      )}
    </fieldset>
  )
}

const MOST_HEADERS = 20
const NO_HEADER: Header = { name: '', value: '' }

/** Headers of one's own. Stored values are not shown again, so they are replaced as a whole. */
export function Headers({
  of: { headers },
  stored,
  change,
}: Part & { readonly stored: readonly string[] }) {
  const set = (at: number, header: Partial<Header>): void =>
    change({
      headers: (headers ?? []).map((one, index) => (index === at ? { ...one, ...header } : one)),
    })
  const start = (): void =>
    change({
      headers: stored.length > 0 ? stored.map((name) => ({ name, value: '' })) : [NO_HEADER],
    })
  return (
    <fieldset>
      <legend>Headers of your own</legend>
      {headers === null && stored.length > 0 && (
        <p>
          {stored.map((name, at) => (
            <span key={name}>
              {at > 0 && ', '}
              <code>{name}</code>
            </span>
          ))}{' '}
          {stored.length === 1 ? 'is' : 'are'} sent. The values are not shown again.
        </p>
      )}
      {headers !== null && stored.length > 0 && (
        <p>These replace all headers that are sent now, so type every value again.</p>
      )}
      {headers?.map((header, at) => (
        <HeaderFields
          // A row is known by its index alone.
          key={at}
          number={at + 1}
          of={header}
          isRepeated={repeatedIn(headers).has(at)}
          set={(changes) => set(at, changes)}
          remove={() => change({ headers: headers.filter((_, index) => index !== at) })}
        />
      ))}
      <div className="buttons start">
        {headers === null ? (
          <Button size="xs" variant="default" onClick={start}>
            {stored.length > 0 ? 'Replace headers' : 'Add a header'}
          </Button>
        ) : (
          <>
            <Button
              size="xs"
              variant="default"
              disabled={headers.length >= MOST_HEADERS}
              onClick={() => change({ headers: [...headers, NO_HEADER] })}
            >
              Add a header
            </Button>
            <Button size="xs" variant="subtle" onClick={() => change({ headers: null })}>
              {stored.length > 0 ? 'Keep them as they are' : 'No headers'}
            </Button>
          </>
        )}
      </div>
    </fieldset>
  )
}

function HeaderFields({
  number,
  of: { name, value },
  isRepeated,
  set,
  remove,
}: {
  readonly number: number
  readonly of: Header
  readonly isRepeated: boolean
  readonly set: (changes: Partial<Header>) => void
  readonly remove: () => void
}) {
  return (
    <div className="header-fields" role="group" aria-label={`Header ${number}`}>
      <TextInput
        label="Name"
        placeholder="Authorization"
        required
        maxLength={100}
        value={name}
        error={isRepeated ? 'This name is above already.' : undefined}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Value"
        maxLength={1000}
        autoComplete="off"
        value={value}
        onChange={(event) => set({ value: event.currentTarget.value })}
      />
      <Button variant="default" aria-label={`Remove header ${number}`} onClick={remove}>
        Remove
      </Button>
    </div>
  )
}

/** How fast it is sent to. */
export function Limits({ of: { rateLimit, concurrency }, change }: Part) {
  return (
    <fieldset className="limits">
      <legend>Limits</legend>
      <Amount
        label="Deliveries per second"
        description="1 to 1000. Empty: no limit."
        most={1000}
        value={rateLimit}
        set={(value) => change({ rateLimit: value })}
      />
      <Amount
        label="Deliveries at once"
        description="1 to 64. Empty: the default of the service."
        most={64}
        value={concurrency}
        set={(value) => change({ concurrency: value })}
      />
    </fieldset>
  )
}

function Amount({
  label,
  description,
  most,
  value,
  set,
}: {
  readonly label: string
  readonly description: string
  readonly most: number
  readonly value: string
  readonly set: (value: string) => void
}) {
  const id = useId()
  return (
    <TextInput
      id={id}
      type="number"
      min={1}
      max={most}
      step={1}
      label={label}
      description={description}
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
    />
  )
}

/** Headers beside the signature. */
export function MoreHeaders({ of: { standardHeaders, traceHeaders }, change }: Part) {
  return (
    <fieldset className="choices">
      <legend>Also send</legend>
      <div>
        <Checkbox
          label="Headers of Standard Webhooks"
          description="webhook-id, webhook-timestamp and webhook-signature, which libraries verify."
          checked={standardHeaders}
          onChange={(event) => change({ standardHeaders: event.currentTarget.checked })}
        />
        <Checkbox
          label="The trace of the event"
          description="traceparent of W3C, where the event has one."
          checked={traceHeaders}
          onChange={(event) => change({ traceHeaders: event.currentTarget.checked })}
        />
      </div>
    </fieldset>
  )
}

import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { BRAND } from '../shell/brand.ts'
import { CHOICES, languageOf, readPage } from './languages.ts'
import type { Part, Receiver } from './page.ts'
import { forBrand, receiversOf } from './page.ts'
import './receivers.css'
import { Snippet } from './snippet.tsx'

interface Search {
  readonly language?: string
  readonly framework?: string
}

/** A complete receiver in the language that the address names. Its secret is a variable of the environment. */
export function ReceiverCode({ of: webhook }: { readonly of: Webhook }) {
  const { language: given, framework }: Search = useSearch({ strict: false })
  const language = languageOf(given)
  const query = useQuery({
    queryKey: ['receivers', language],
    queryFn: async () => receiversOf(forBrand(await readPage(language), BRAND)),
    staleTime: Infinity,
  })
  return (
    <div className="receiver">
      <nav aria-label="Language" className="languages">
        {CHOICES.map(([name, text]) => (
          <Link
            key={name}
            to="."
            search={{ language: name } as never}
            replace
            resetScroll={false}
            aria-current={name === language ? 'page' : undefined}
          >
            {text}
          </Link>
        ))}
      </nav>
      <p>
        It is complete: it verifies signature and time, bounds what it reads, and answers before the
        work. The secret comes from the environment, which names both during a rotation, with a
        comma between them.
      </p>
      <Snippet name="Environment" text="export WEBHOOK_SECRETS='whsec_…'" />
      <Loaded query={query}>
        {(receivers) => <Frameworks of={receivers} chosen={framework} webhook={webhook} />}
      </Loaded>
    </div>
  )
}

function Frameworks({
  of: receivers,
  chosen,
  webhook,
}: {
  readonly of: readonly Receiver[]
  readonly chosen: string | undefined
  readonly webhook: Webhook
}) {
  const navigate = useNavigate()
  const receiver = receivers.find(({ name }) => name === chosen) ?? receivers[0]
  const choose = (framework: string): void =>
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, framework })) as never,
      replace: true,
      resetScroll: false,
    })
  return (
    receiver !== undefined && (
      <>
        {receivers.length > 1 && (
          <NativeSelect
            label="Framework"
            className="framework"
            value={receiver.name}
            data={receivers.map(({ name }) => name)}
            onChange={(event) => choose(event.currentTarget.value)}
          />
        )}
        {receiver.needsStandardHeaders && <StandardHeaders key={webhook.id} of={webhook} />}
        {receiver.parts.map((part) => (
          <PartView key={`${receiver.name} ${part.text}`} of={part} />
        ))}
        <p className="quiet">
          The code listens on <code>127.0.0.1:8080</code> at <code>/in</code>; this webhook sends to{' '}
          <code>{webhook.url}</code>.
        </p>
      </>
    )
  )
}

/** Links of a page lead to other pages of the docs, so their text alone is shown. */
function PartView({ of: part }: { readonly of: Part }) {
  if (part.kind === 'file') return <Snippet name={part.name} text={part.text} />
  if (part.kind === 'command') return <Snippet name={verbOf(part.name)} text={part.text} />
  const runs = part.text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').split('`')
  return <p>{runs.map((run, at) => (at % 2 === 1 ? <code key={at}>{run}</code> : run))}</p>
}

/** `run gin` is the command `Run`. */
function verbOf(name: string): string {
  const verb = name.split(' ')[0] ?? name
  return verb.charAt(0).toUpperCase() + verb.slice(1)
}

/** What a library of Standard Webhooks verifies is sent on request. */
function StandardHeaders({ of: webhook }: { readonly of: Webhook }) {
  const update = useAct(() =>
    api.webhooks.update({ webhook_id: webhook.id, standard_headers: true }),
  )
  const isSent = update.data?.standard_headers ?? webhook.standard_headers
  return (
    <div className="needs" role="status">
      {isSent ? (
        <p>This webhook sends the headers of Standard Webhooks, which the library verifies.</p>
      ) : (
        <>
          <p>
            The library verifies the headers of Standard Webhooks, which this webhook does not send
            yet.
          </p>
          <Button
            size="xs"
            variant="default"
            loading={update.isPending}
            onClick={() => update.mutate(undefined)}
          >
            Send the headers too
          </Button>
        </>
      )}
      {update.error !== null && <Problem error={update.error} />}
    </div>
  )
}

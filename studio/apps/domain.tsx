import { Button } from '@mantine/core'
import type { Domain } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Instant } from '../parts/instant.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'

/** A domain: its state, the records to copy, and its actions. */
export function DomainView({ of: domain }: { readonly of: Domain }) {
  const { hostname, status, records, verification_error: fault, next_check_at: next } = domain
  return (
    <Section title={hostname}>
      <p>
        <State of={`domain ${status}`} />
        {domain.primary && ' This is the primary hostname.'} {fault?.message}
        {next !== null && status !== 'verified' && (
          <>
            {' '}
            It is checked again <Instant at={next} />.
          </>
        )}
      </p>
      <ul className="records" aria-label={`Records of ${hostname}`}>
        {records.map(({ type, name, value, verified }) => (
          <li key={type}>
            <Facts
              of={[
                ['Type', type],
                ['Name', <Copyable key="name" text={name} what="name" />],
                ['Value', <Copyable key="value" text={value} what="value" />],
                ['State', <State key="state" of={verified ? 'found' : 'missing'} />],
              ]}
            />
          </li>
        ))}
      </ul>
      <Actions of={domain} />
    </Section>
  )
}

function Actions({ of: domain }: { readonly of: Domain }) {
  const { app_id, id: domain_id, hostname, status, primary } = domain
  const verify = useAct(() => api.settings.verifyDomain({ app_id, domain_id }))
  const prefer = useAct(() => api.settings.updateDomain({ app_id, domain_id, primary: true }))
  const remove = useAct(() => api.settings.deleteDomain({ app_id, domain_id }))
  const error = verify.error ?? prefer.error ?? remove.error
  return (
    <>
      {error !== null && <Problem error={error} />}
      <div className="buttons start">
        <Button
          size="xs"
          variant="default"
          aria-label={`Check now: ${hostname}`}
          loading={verify.isPending}
          onClick={() => verify.mutate(undefined)}
        >
          Check now
        </Button>
        {status === 'verified' && !primary && (
          <Button
            size="xs"
            variant="default"
            loading={prefer.isPending}
            onClick={() => prefer.mutate(undefined)}
          >
            Make primary
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          aria-label={`Delete ${hostname}`}
          loading={remove.isPending}
          onClick={() => remove.mutate(undefined)}
        >
          Delete
        </Button>
      </div>
    </>
  )
}

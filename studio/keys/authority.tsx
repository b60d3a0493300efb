import { Link } from '@tanstack/react-router'
import type { KeyDetail } from '../api/client.ts'
import { FullInstant } from '../parts/instant.tsx'
import { Facts } from '../parts/page.tsx'

/** Effective scopes, apps and expiry, and the chain that they come from. */
export function Authority({ of: key }: { readonly of: KeyDetail }) {
  const { effective_scopes: scopes, effective_apps: apps, effective_expires_at: expiry } = key
  return (
    <>
      <Facts
        of={[
          ['Effective scopes', <Codes key="scopes" of={scopes} none="None" />],
          ['Apps', apps === null ? 'Every app' : <Codes key="apps" of={apps} none="None" />],
          ['Ends', expiry === null ? 'Never by itself' : <FullInstant key="ends" at={expiry} />],
        ]}
      />
      <h3 className="chain-title">Delegation chain</h3>
      {key.parent_key_id === null ? (
        <p className="quiet">No key is above it: what it holds is what it may do.</p>
      ) : (
        <ol className="chain" aria-label="Delegation chain">
          {key.ancestors.map(({ id, name, scopes: held, revoked_at }) => (
            <li key={id}>
              <Link to="/keys/$keyId" params={{ keyId: id }}>
                {name}
              </Link>
              {revoked_at !== null && ' (revoked)'} <Codes of={held} none="None" />
            </li>
          ))}
          <li aria-current="true">
            <strong>{key.name}</strong> <Codes of={key.scopes} none="None" />
          </li>
        </ol>
      )}
    </>
  )
}

function Codes({ of, none }: { readonly of: readonly string[]; readonly none: string }) {
  return of.length === 0 ? <>{none}</> : <code>{of.join(', ')}</code>
}

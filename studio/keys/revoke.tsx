import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyDetail } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'

/** Everything that ends with the key is named before the button. */
export function Revoke({ of: key, close }: { readonly of: KeyDetail; readonly close: () => void }) {
  const [disables, setDisables] = useState(false)
  const affected = useQuery({
    queryKey: ['keys', 'revoke', key.id, 'dry run'],
    queryFn: () => api.keys.revoke({ key_id: key.id, dry_run: 'true' }),
    gcTime: 0,
  })
  const revoke = useAct<void, unknown>(
    () => api.keys.revoke({ key_id: key.id, webhooks: disables ? 'disable' : 'keep' }),
    close,
  )
  const total = affected.data?.keys_total ?? 1
  return (
    <Dialog
      title={`Revoke ${key.name}`}
      action={total === 1 ? 'Revoke key' : `Revoke ${total} keys`}
      act={revoke}
      close={close}
      dangerous
      ready={affected.data !== undefined}
    >
      <p>
        Whoever uses it is refused from now on, and this cannot be undone.
        {key.last_used_at === null && ' It was never used.'}
      </p>
      <Loaded query={affected}>
        {({ keys, keys_total, webhooks_total }) => (
          <>
            {keys_total > 1 && (
              <Below keys={keys.filter((id) => id !== key.id)} total={keys_total - 1} />
            )}
            {webhooks_total > 0 && (
              <Checkbox
                label={`Also disable ${webhooks_total === 1 ? 'the webhook' : `the ${webhooks_total} webhooks`} set by ${keys_total > 1 ? 'these keys' : 'it'}`}
                checked={disables}
                onChange={(event) => setDisables(event.currentTarget.checked)}
              />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

function Below({ keys, total }: { readonly keys: readonly string[]; readonly total: number }) {
  const { data } = useQuery({
    queryKey: ['keys', 'list', 'names'],
    queryFn: () => api.keys.list({ limit: 100 }),
  })
  const names = new Map(data?.data.map(({ id, name }) => [id, name]))
  return (
    <>
      <p>
        {total === 1 ? 'One key below it ends with it:' : `${total} keys below it end with it:`}
      </p>
      <ul>
        {keys.map((id) => (
          <li key={id}>{names.get(id) ?? <code>{id}</code>}</li>
        ))}
      </ul>
    </>
  )
}

import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'

/** Asks as the model asks; the question is in the address. */
export function Passages({ app: app_id }: { readonly app: string }) {
  const { query = '' } = useSearch({ from: '/inside/apps/$appId/knowledge' })
  const navigate = useNavigate()
  const [typed, setTyped] = useState(query)
  const found = useQuery({
    queryKey: ['files', 'search', app_id, query],
    queryFn: () => api.files.search({ app_id, query, limit: 5 }),
    enabled: query !== '',
  })
  return (
    <>
      <form
        role="search"
        className="find"
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault()
          void navigate({ to: '.', search: { query: typed } as never, replace: true })
        }}
      >
        <TextInput
          aria-label="Question to the files"
          placeholder="When are we open on Saturdays?"
          required
          maxLength={1000}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Search files
        </Button>
      </form>
      {query !== '' && (
        <Loaded query={found}>
          {({ data }) =>
            data.length === 0 ? (
              <p role="status">Nothing of it is in the processed files.</p>
            ) : (
              <ol className="passages" aria-label="Passages">
                {data.map(({ file_id, ordinal, name, heading, page, text }) => (
                  <li key={`${file_id} ${ordinal}`}>
                    <p className="quiet">
                      {name}
                      {page !== null && `, page ${page}`}
                      {heading !== null && `, ${heading}`}
                    </p>
                    <p>{text}</p>
                  </li>
                ))}
              </ol>
            )
          }
        </Loaded>
      )}
    </>
  )
}

import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'

/** Adds an empty file, and opens it. */
export function AddFile({ app: app_id, base }: { readonly app: string; readonly base: number }) {
  const [path, setPath] = useState('')
  const navigate = useNavigate()
  const add = useAct(
    () =>
      api.edits.create({
        app_id,
        operations: [{ op: 'write', path, content: '' }],
        base_revision: base,
        message: `Added ${path}`,
      }),
    () => {
      setPath('')
      void navigate({ to: '/apps/$appId/files', params: { appId: app_id }, search: { path } })
    },
  )
  return (
    <form
      className="find"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        add.mutate(undefined)
      }}
    >
      <TextInput
        aria-label="Path of a new file"
        placeholder="about.html"
        required
        maxLength={300}
        value={path}
        error={add.error !== null && <Problem error={add.error} />}
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={add.isPending}>
        Add file
      </Button>
    </form>
  )
}

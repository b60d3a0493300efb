import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { BRAND } from '../shell/brand.ts'
import { session } from './session.ts'

/** A link may ask for a page of Studio, and for nothing else. */
function isOwn(to: string | undefined): to is string {
  if (to === undefined || !URL.canParse(to, location.origin)) return false
  return new URL(to, location.origin).href.startsWith(document.baseURI)
}

export function Page() {
  const router = useRouter()
  const queries = useQueryClient()
  const { to } = useSearch({ from: '/sign-in' })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  async function submit(): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      const signedIn = await api.accounts.signIn({ email, password })
      // Nothing of whoever was here before.
      queries.clear()
      queries.setQueryData(session.queryKey, signedIn)
      router.history.push(isOwn(to) ? to : router.buildLocation({ to: '/' }).publicHref)
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <h1>Sign in to {BRAND}</h1>
      <form
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {problem !== undefined && <Problem error={problem} />}
        <Button type="submit" loading={isBusy} fullWidth>
          Sign in
        </Button>
      </form>
      <p className="quiet">
        No user yet? Open the setup link that the daemon printed at its start. A forgotten password
        is set again with <code>keyhook owner reset-password</code>.
      </p>
    </main>
  )
}

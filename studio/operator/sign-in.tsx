import { Button, PasswordInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { operatorApi, queries } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { BRAND } from '../shell/brand.ts'
import { operatorSession } from './session.ts'

/** Takes the token out of the field: it is sent once, and kept nowhere. */
function takeToken(form: HTMLFormElement): string {
  const token = new FormData(form).get('token')
  form.reset()
  return typeof token === 'string' ? token : ''
}

export function Page() {
  const navigate = useNavigate()
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  async function submit(form: HTMLFormElement): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      const session = await operatorApi().operator.signIn({ token: takeToken(form) })
      queries.removeQueries({ queryKey: ['operator'] })
      queries.setQueryData(operatorSession.queryKey, session)
      await navigate({ to: '/operator' })
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <h1>Operate {BRAND}</h1>
      <form
        onSubmit={(event: SubmitEvent<HTMLFormElement>) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <PasswordInput label="Operator token" name="token" autoComplete="off" required />
        {problem !== undefined && <Problem error={problem} />}
        <Button type="submit" loading={isBusy} fullWidth>
          Sign in for an hour
        </Button>
      </form>
      <p className="quiet">
        The token is the value of <code>KEYHOOK_OPERATOR_TOKEN</code>. It is sent once and not kept
        by this page; another token ends the session.
      </p>
    </main>
  )
}

import { Button, Modal, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from 'keyhook/client'
import type { ReactNode, SubmitEvent } from 'react'
import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import { api } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { isSignedOut, requireSameUser, session } from './session.ts'

/**
 * Runs a call for the user whose page this is; when the service asks for the password, asks the person in place and
 * runs it again. Without a provider it just runs it.
 */
type Confirm = <T>(call: () => Promise<T>) => Promise<T>

const Confirmation = createContext<Confirm>((call) => call())

export function useConfirm(): Confirm {
  return useContext(Confirmation)
}

interface Asked {
  readonly need: 'step up' | 'sign in'
  readonly confirmed: () => void
  readonly canceled: () => void
}

function needOf(error: unknown): Asked['need'] | undefined {
  if (isSignedOut(error)) return 'sign in'
  return error instanceof ApiError && error.code === 'step_up_required' ? 'step up' : undefined
}

/** The dialog lies over the form that caused it, which keeps what was typed. */
export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<Asked>()
  const confirm: Confirm = useCallback(async (given) => {
    const call: typeof given = async () => {
      await requireSameUser()
      return given()
    }
    try {
      return await call()
    } catch (error) {
      const need = needOf(error)
      if (need === undefined) throw error
      await new Promise<void>((resolve, reject) => {
        setAsked({ need, confirmed: resolve, canceled: () => reject(error as Error) })
      }).finally(() => setAsked(undefined))
      return call()
    }
  }, [])
  return (
    <Confirmation value={confirm}>
      {children}
      {asked !== undefined && <PasswordDialog {...asked} />}
    </Confirmation>
  )
}

const TEXTS = {
  'step up': {
    title: 'Confirm your password',
    why: 'This action needs your password once more; it then holds for ten minutes.',
  },
  'sign in': { title: 'Sign in again', why: 'Your session has ended. What you typed is kept.' },
} as const

/** No page in a frame may take the focus while a password is typed; returns how that ends. */
function silenceFrames(): () => void {
  const frames = [...document.querySelectorAll('iframe')].filter(({ inert }) => !inert)
  for (const frame of frames) frame.inert = true
  return () => {
    for (const frame of frames) frame.inert = false
  }
}

function PasswordDialog({ need, confirmed, canceled }: Asked) {
  const { data } = useQuery({ ...session, enabled: false })
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const email = data?.user.email ?? ''

  async function submit(): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      if (need === 'step up') await api.accounts.stepUp({ password })
      else await api.accounts.signIn({ email, password })
      confirmed()
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }

  useEffect(silenceFrames, [])

  const { title, why } = TEXTS[need]
  return (
    <Modal opened onClose={canceled} title={title} zIndex={400}>
      <form
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault()
          void submit()
        }}
      >
        <p className="quiet">{why}</p>
        <input type="text" hidden readOnly autoComplete="username" value={email} />
        <PasswordInput
          label={`Password of ${email}`}
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {problem !== undefined && <Problem error={problem} />}
        <div className="buttons">
          <Button variant="default" onClick={canceled}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Confirm
          </Button>
        </div>
      </form>
    </Modal>
  )
}

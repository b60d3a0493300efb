import './operator.css'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { operatorApi } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { isSignedOut } from '../session/session.ts'
import { Layout } from '../shell/frame.tsx'

const PLACES = [
  ['Overview', '/operator', 'home'],
  ['Accounts', '/operator/accounts', 'accounts'],
  ['Settings', '/operator/settings', 'settings'],
] as const

function leave(): void {
  location.assign(new URL('operator/sign-in', document.baseURI))
}

export function OperatorFrame() {
  return <Layout of={PLACES} part="Operator" menu={<SignOut />} />
}

function SignOut() {
  const signOut = useMutation({
    mutationFn: () => operatorApi().operator.signOut(),
    // A new page holds nothing of the session that ended.
    onSuccess: leave,
    onError(error) {
      if (isSignedOut(error)) leave()
    },
  })
  return (
    <>
      {signOut.error !== null && <Problem error={signOut.error} />}
      <Button
        size="xs"
        variant="default"
        loading={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        Sign out
      </Button>
    </>
  )
}

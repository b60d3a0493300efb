import type { ChangeSink } from '../contract/changes.ts'
import type { SignInReads, SignInWrites } from '../contract/sign-in.ts'
import { NO_SIGN_IN } from '../contract/sign-in.ts'
import type { Reading, State } from './state.ts'

export function signInReads(state: Reading): SignInReads {
  return { get: async (appId) => state().signIn.get(appId) }
}

export function signInWrites(state: State, sink: ChangeSink): SignInWrites {
  const { signIn } = state
  return {
    ...signInReads(() => state),
    async change(app_id, changes, updated_at) {
      const before = signIn.get(app_id) ?? NO_SIGN_IN
      signIn.set(app_id, Object.freeze({ ...before, ...changes, app_id, updated_at }))
      sink.push({ kind: 'site', id: app_id })
    },
  }
}

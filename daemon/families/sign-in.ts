import type { KeyhookError } from '../../lib/errors.ts'
import type { DeploymentReads } from '../../plugins/platform/contract/deployments.ts'
import type { SignInReads } from '../../plugins/platform/contract/sign-in.ts'
import { httpError } from '../operations/errors.ts'

/**
 * Refuses to publish an app whose visitors must sign in: nothing signs them in yet, so that it would be
 * open to everyone.
 *
 * @throws KeyhookError `capability_unavailable`
 */
export async function requireNoSignIn(
  signIn: Pick<SignInReads, 'get'>,
  appId: string,
): Promise<void> {
  if ((await signIn.get(appId))?.enabled === true) throw signInUnavailable()
}

/**
 * Refuses to require sign-in for an app that is published, or about to be.
 *
 * @throws KeyhookError `capability_unavailable`
 */
export async function requireUnpublished(
  deployments: Pick<DeploymentReads, 'live' | 'inProgress'>,
  appId: string,
): Promise<void> {
  const found = (await deployments.live(appId)) ?? (await deployments.inProgress(appId))
  if (found !== undefined) throw signInUnavailable()
}

function signInUnavailable(): KeyhookError {
  return httpError('capability_unavailable', {
    message:
      'This version cannot sign in visitors of apps, so an app with sign-in enabled cannot be published. Set enabled to false in settings/auth, or keep the app unpublished.',
  })
}

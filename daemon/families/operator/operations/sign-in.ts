import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { FULL_AUTHORITY } from '../../../../lib/grant/authority.ts'
import { toIso } from '../../../../lib/time.ts'
import { networkOf } from '../../../limits/network.ts'
import { operation } from '../../../operations/operation.ts'
import { operatorCookie, requireCookie } from '../../accounts/session.ts'
import { createGuesses } from '../../accounts/throttle.ts'
import { audit } from '../../audit/note.ts'
import { operatorError } from '../errors.ts'
import { exampleOperatorSession, operatorSession, operatorSignInBody } from '../schema.ts'

/** One per process. */
const guesses = createGuesses()

export const operatorSignIn = operation({
  effect: 'own',
  id: 'operator.sign_in',
  summary: "Exchange the operator token for a browser's session of an hour; it is in a cookie",
  method: 'POST',
  path: '/v1/operator/session',
  access: 'public',
  agent: { omit: "The operator's sign-in, which no key has." },
  emits: ['operator'],
  input: { body: operatorSignInBody },
  output: operatorSession,
  errors: ['insecure_transport', 'invalid_operator_token', 'rate_limited'],
  example: {
    body: { token: 'operator-token-of-at-least-32-characters' },
    response: exampleOperatorSession,
  },
  bodyLimit: 8192,
  async run(call) {
    const { platform, body, now, ip, response } = call
    const cookie = requireCookie(operatorCookie(platform.baseUrl))
    const { operating } = platform
    const opened =
      operating?.proves(body.token) === true ? operating.sessions?.open(now) : undefined
    if (opened === undefined) {
      // After the token: it is too long to guess, and nobody's guesses keep the operator out.
      const guess = { network: networkOf(ip), email: 'operator' }
      await guesses.check(guess, now, () => Promise.resolve(undefined))
      throw operatorError('invalid_operator_token')
    }
    await platform.store.write((tx) =>
      audit(
        {
          ...call,
          tx,
          principal: { type: 'operator', account_id: null, authority: FULL_AUTHORITY },
        },
        {
          account_id: SERVICE_ACCOUNT,
          action: 'operator.signed_in',
          target_type: 'operator_session',
          target_id: opened.session.id,
        },
      ),
    )
    response.setCookie(cookie, opened.value, opened.session.expires_at)
    return { expires_at: toIso(opened.session.expires_at) }
  },
})

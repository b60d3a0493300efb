import type { Model } from './model/define.ts'
import { DOMAINS } from './models/domains.ts'
import { SERVICES, SERVICE_SECRETS } from './models/services.ts'
import { SIGN_IN } from './models/sign-in.ts'

/** Every noun that is declared as a model. */
export const MODELS: readonly Model[] = [DOMAINS, SERVICES, SERVICE_SECRETS, SIGN_IN]

import type { Model } from './model/define.ts'
import { APPS, LEFT_ALIASES, REVISIONS } from './models/apps.ts'
import { DOMAINS } from './models/domains.ts'
import { SERVICES, SERVICE_SECRETS } from './models/services.ts'
import { SIGN_IN } from './models/sign-in.ts'
import { SITES } from './models/sites.ts'

/** Every noun that is declared as a model. */
export const MODELS: readonly Model[] = [
  APPS,
  DOMAINS,
  LEFT_ALIASES,
  REVISIONS,
  SERVICES,
  SERVICE_SECRETS,
  SIGN_IN,
  SITES,
]

import type { Kind } from '../../lib/internal/arguments.ts'
import { either, isObject, listOf, oneOf } from '../../lib/internal/arguments.ts'
import type { OperationsOf, Served } from '../client/index.ts'
import { requireAddable } from '../composition/added-families.ts'
import type { Config } from '../config/config.ts'
import { ABSENT_FAMILIES, EMBEDDED_FAMILIES } from '../families/index.ts'
import type { Family } from '../operations/family.ts'

/** Families of the platform, each served where its name is given. */
export type PlatformFamily = 'apps' | 'edits' | 'files' | 'deploy' | 'observe' | 'settings'

/** A family of the platform by its name, or one of your own. */
export type ServedFamily = PlatformFamily | Family

type IdIn<Name extends string> = { readonly id: `${Name}.${string}` }

/** Families of the daemon alone: an embedder has users and operators of its own. */
type DaemonFamily = 'accounts' | 'operator'

const OF_THE_DAEMON: readonly string[] = ['accounts', 'operator'] satisfies DaemonFamily[]

/** The operations of the families that an embedded Keyhook always serves. */
type OwnOperation = Exclude<Served, IdIn<PlatformFamily | DaemonFamily>>

/** The operations of families that were asked for. */
type AskedOperation<Asked> = Asked extends PlatformFamily
  ? Extract<Served, IdIn<Asked>>
  : Asked extends { readonly typed?: unknown }
    ? OperationsOf<Asked>
    : never

/** The operations that an embedded Keyhook serves. */
export type EmbeddedOperation<Asked extends ServedFamily> = OwnOperation | AskedOperation<Asked>

const NAMES: readonly string[] = ABSENT_FAMILIES.map(({ name }) => name).filter(
  (name) => !OF_THE_DAEMON.includes(name),
)

export const SERVED_FAMILIES: Kind = {
  ...listOf(either(oneOf(...NAMES), { allowed: 'a family', accepts: isObject })),
  allowed: `a non-empty list, each ${NAMES.join(', ')} or a family of defineFamily`,
}

/**
 * The families that are served: those of keys and webhooks, and those that were asked for, once each and in the order
 * of the product.
 *
 * @throws TypeError for a family of another form, or with names that another one has
 */
export async function servedFamilies(
  asked: readonly ServedFamily[],
  { billing }: Pick<Config, 'billing'>,
): Promise<readonly Family[]> {
  const names = new Set(asked.filter((one) => typeof one === 'string'))
  const added = asked.filter((one): one is Family => typeof one !== 'string')
  await requireAddable(added)
  return [
    ...EMBEDDED_FAMILIES.map((family) =>
      // Without a ledger nothing of it is ever published.
      family.name === 'billing' && billing === 'none' ? { ...family, events: [] } : family,
    ),
    ...ABSENT_FAMILIES.filter(({ name }) => names.has(name as PlatformFamily)),
    ...added,
  ]
}

/** Whether apps and what belongs to them are served. */
export function servesApps(asked: readonly ServedFamily[]): boolean {
  return asked.some((one) => typeof one === 'string')
}

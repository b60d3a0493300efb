import { z } from 'zod'
import { FAMILIES } from '../../../daemon/families/index.ts'
import { keysFamily } from '../../../daemon/families/keys/family.ts'
import type { Operation } from '../../../daemon/operations/operation.ts'
import { querySchema } from '../../../daemon/operations/query.ts'
import type { AnyBody, Asker } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const WRONG = 'no_such_name'

interface Refusal {
  readonly error: {
    readonly code: string
    readonly errors?: readonly { readonly location: string; readonly message: string }[]
  }
}

/** Every name of an object schema; undefined for a body of another form. */
function namesOf(schema: z.ZodType | undefined): readonly string[] | undefined {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : undefined
}

export const NAME_CHECKS: Checks = {
  async O01(t, saw) {
    const families = FAMILIES.filter((family) => family !== keysFamily)
    const world = await createWorld(t, { families })
    const operations = FAMILIES.flatMap((family) => family.operations)
    const { key } = await world.mintKey({ scopes: ['*:*'] })
    const { portal } = world
    const operator = world.operatorFor(null)
    const askers: Readonly<Record<string, Asker>> = { key, portal, operator }

    async function refusedName({ id, method, path, access, input }: Operation, body?: AnyBody) {
      const as = typeof access === 'string' ? (askers[access] ?? world.user) : world.user
      const place = path.replaceAll(/\{(\w+)\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')
      const address = body === undefined ? `${place}?${WRONG}=1` : place
      const form = method !== 'GET' && body === undefined && input.body ? {} : body
      const { status, body: told } = await world.request<Refusal>(method, address, {
        as: access === 'public' ? null : as,
        ...(form === undefined ? {} : { body: form }),
      })
      saw(`${status} ${told.error.code}`)
      const place_ = body === undefined ? 'query' : 'body'
      const fault = told.error.errors?.find(({ location }) => location === `${place_}.${WRONG}`)
      t.ok(fault, `${id}: ${place_}`, { told })
      return fault?.message ?? ''
    }

    let asked = 0
    for (const operation of operations) {
      const { id, input } = operation
      const message = await refusedName(operation)
      const query = querySchema(operation)
      for (const name of namesOf(query) ?? []) t.match(message, name, `${id}: query`)
      if (query === undefined) t.match(message, 'No name is allowed here', id)
      asked += 1
      const fields = namesOf(input.body)
      if (fields === undefined) continue
      const refusal = await refusedName(operation, { [WRONG]: 1 })
      for (const name of fields) t.match(refusal, name, `${id}: body`)
    }
    t.ok(asked >= 90, 'every operation', { asked })
  },
}

import type { FieldError } from '../../../lib/errors.ts'
import { customHeaderProblem } from '../../../lib/webhook/headers.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'

/** @throws KeyhookError `invalid_request` naming every header that may not be sent */
export function judgeHeaders(
  { names }: Pick<Platform, 'names'>,
  headers: Readonly<Record<string, string>> | null | undefined,
): void {
  const seen = new Set<string>()
  const errors = Object.entries(headers ?? {}).flatMap(([name, value]): FieldError[] => {
    const twice = seen.has(name.toLowerCase()) ? 'This header stands here twice.' : undefined
    seen.add(name.toLowerCase())
    const message = customHeaderProblem(name, value, names) ?? twice
    const location = `body.headers.${name}`
    return message === undefined ? [] : [{ location, code: 'invalid_header', message }]
  })
  if (errors.length > 0) throw httpError('invalid_request', { errors })
}

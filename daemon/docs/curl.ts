import type { ApiDocument, ApiOperation, Placed, Schema } from './api-document.ts'
import { formsOf } from './api-document.ts'

/**
 * An operation's example as a command for a POSIX shell; ids and credentials are shell variables.
 *
 * @example
 * curlOf(operation, document)
 * // curl -X DELETE "http://127.0.0.1:8420/v1/keys/$KEY_ID" \
 * //   -H "Authorization: Bearer $KEYHOOK_KEY"
 */
export function curlOf(operation: Placed, document: ApiDocument): string {
  const [{ url } = { url: '' }] = document.servers
  const { method, path, requestBody } = operation
  const urlPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  const { 'application/json': json, 'multipart/form-data': parts } = requestBody?.content ?? {}
  const example = json?.example
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${url}${urlPath}"`,
    ...credentialsOf(operation),
    ...(needsKey(operation) ? ['-H "Idempotency-Key: $IDEMPOTENCY_KEY"'] : []),
    ...(example === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d ${quote(JSON.stringify(example))}`]),
    ...(json === undefined && parts !== undefined
      ? formsOf(parts.schema, document).flatMap(fieldsOf).map(formField)
      : []),
  ].join(' \\\n  ')
}

function needsKey({ parameters = [] }: ApiOperation): boolean {
  return parameters.some((one) => one.name === 'Idempotency-Key' && one.required === true)
}

const fieldsOf = ({ properties = {} }: Schema) => Object.entries(properties)

function formField([name, { format, items }]: readonly [string, Schema]): string {
  const at = (items?.format ?? format) === 'binary' ? '@' : ''
  return `-F "${name}=${at}$${name.toUpperCase()}"`
}

/** Credentials of the first scheme. */
function credentialsOf({ security: [first] }: ApiOperation): readonly string[] {
  const [scheme = ''] = Object.keys(first ?? {})
  const credentials = CREDENTIALS[scheme]
  return credentials === undefined ? [] : [credentials]
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  developerKey: '-H "Authorization: Bearer $KEYHOOK_KEY"',
  operator: '-H "Authorization: Bearer $KEYHOOK_OPERATOR_TOKEN"',
  session: '-b "$SESSION_COOKIE"',
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

import type { Schema } from './api-document.ts'
import { recordOf } from './api-document.ts'
import type { Markup } from './html.ts'
import { html, joined } from './html.ts'

/** One line of a table of fields. */
export interface Field {
  readonly name: string
  readonly need: '' | 'required' | 'optional'
  readonly schema: Schema
}

/** The fields that a caller sends; required ones say so. */
export function givenFields({ properties = {}, required = [] }: Schema): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    need: required.includes(name) ? 'required' : '',
    schema,
  }))
}

/** The fields of a response; optional ones say so. */
export function answeredFields({ properties = {}, required = [] }: Schema): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    need: required.includes(name) ? '' : 'optional',
    schema,
  }))
}

/** Fields as a table with type and description. */
export function printFields(caption: string, fields: readonly Field[]): Markup {
  if (fields.length === 0) return html``
  return html`<div class="wide">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Value</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${fields.map(printField)}
      </tbody>
    </table>
  </div> `
}

function printField({ name, need, schema }: Field): Markup {
  return html`<tr>
    <th scope="row"><code>${name}</code>${labelled('need', need)}</th>
    <td>${typeOf(schema)}${labelled('limit', limitsOf(schema))}</td>
    <td>${schema.description ?? ''}</td>
  </tr> `
}

function labelled(kind: string, text: string): Markup {
  return text === '' ? html`` : html` <span class="${kind}">${text}</span>`
}

/** The type of a value in words; a record links to its fields. */
export function typeOf(schema: Schema): Markup {
  const record = recordOf(schema)
  if (record !== undefined) return html`<a href="#record-${record}">${record}</a>`
  const forms = schema.anyOf ?? schema.oneOf
  if (forms !== undefined) return joined(forms.map(typeOf), ' or ')
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (values !== undefined) return joined(values.map(printValue), ' or ')
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any'])
  return joined(
    types.map((type) => printType(type, schema)),
    ' or ',
  )
}

function printValue(value: unknown): Markup {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`
}

/** JSON's types as the docs name them. */
export const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  object: 'object',
  any: 'any JSON',
}

function printType(type: string, { format, items }: Schema): Markup {
  if (type === 'array') return html`list of ${typeOf(items ?? {})}`
  if (type === 'string' && format === 'date-time') return html`instant`
  if (type === 'string' && format === 'binary') return html`file`
  return html`${WORDS[type] ?? type}`
}

const LIMITS = [
  ['minLength', 'maxLength', 'characters'],
  ['minItems', 'maxItems', 'entries'],
  ['minimum', 'maximum', ''],
] as const

/** Such as `1 to 100 characters`; a bound that every number satisfies is left out. */
function limitsOf(schema: Schema): string {
  for (const [least, most, unit] of LIMITS) {
    const from = bound(schema[least])
    const to = bound(schema[most])
    if (to !== undefined) {
      return `${from === undefined ? 'up' : from} to ${to} ${unit}`.trim()
    }
    if (from !== undefined) return `at least ${from} ${unit}`.trim()
  }
  return ''
}

function bound(value: number | undefined): number | undefined {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value
}

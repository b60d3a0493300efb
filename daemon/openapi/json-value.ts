import type { ZodOpenApiComponentsObject } from 'zod-openapi'

/** Any JSON that is taken: as the parser of bodies judges it, its depth aside. */
const TEXT = '^[^\\u0000]*$'

export const JSON_SCHEMAS: NonNullable<ZodOpenApiComponentsObject['schemas']> = {
  JsonObject: {
    type: 'object',
    description: 'Any JSON object. Strings do not contain U+0000.',
    propertyNames: { pattern: TEXT, not: { const: '__proto__' } },
    additionalProperties: { $ref: '#/components/schemas/JsonValue' },
  },
  JsonValue: {
    anyOf: [
      { type: ['null', 'boolean', 'number'] },
      { type: 'string', pattern: TEXT },
      { type: 'array', items: { $ref: '#/components/schemas/JsonValue' } },
      { $ref: '#/components/schemas/JsonObject' },
    ],
  },
}

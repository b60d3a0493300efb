import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { readTemplates } from '../templates.ts'

const template = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    files: z.int(),
    bytes: z.int(),
  })
  .meta({ id: 'Template' })

export const listTemplates = operation({
  effect: 'read',
  id: 'apps.templates',
  summary: 'List the templates of apps',
  method: 'GET',
  path: '/v1/templates',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps', default: true, resource: true },
  emits: ['apps'],
  input: {},
  output: z.strictObject({ data: z.array(template) }),
  errors: [],
  example: {
    response: {
      data: [
        {
          id: 'landing',
          name: 'Landing page',
          description: 'One page that says what you offer, when and where.',
          files: 4,
          bytes: 18_220,
        },
      ],
    },
  },
  command: 'app templates',
  async run() {
    const templates = await readTemplates()
    return {
      data: templates.map(({ id, name, description, files }) => ({
        id,
        name,
        description,
        files: files.length,
        bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
      })),
    }
  },
})

import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { exampleHead, headFields, headOf } from '../head.ts'

const NAMES = ['apps', 'editor', 'deployer', 'file_processor', 'embeddings', 'billing'] as const

type Name = (typeof NAMES)[number]

/** Why a service is not there, and whether it is. */
const SERVICES: Readonly<
  Record<Name, { readonly without: string; isThere(platform: Platform): boolean }>
> = {
  apps: {
    without: 'Published apps are not served here.',
    isThere: ({ appsHosting }) => appsHosting !== undefined,
  },
  editor: {
    without: 'No language model is configured: prompts are refused.',
    isThere: ({ plugins }) => plugins.editor.available,
  },
  deployer: {
    without: 'Apps cannot be published here.',
    isThere: ({ plugins }) => plugins.deployer !== undefined && plugins.appBytes !== undefined,
  },
  file_processor: {
    without: 'Knowledge files are not accepted here.',
    isThere: ({ plugins }) => plugins.fileProcessor !== undefined,
  },
  embeddings: {
    without: 'No embedding model is configured: knowledge is searched by words only.',
    isThere: ({ plugins }) => plugins.embedder !== undefined,
  },
  billing: {
    without: 'Nothing is charged here.',
    isThere: ({ billing }) => billing.metered,
  },
}

export const listServices = operation({
  effect: 'read',
  id: 'discovery.services',
  summary: 'List the services behind this one, and why some are unavailable',
  method: 'GET',
  path: '/v1/discovery/services',
  access: { scope: 'discovery:read', pinned: 'allowed' },
  agent: { toolset: 'discovery', resource: true },
  emits: ['discovery'],
  input: {},
  output: z
    .strictObject({
      ...headFields,
      services: z.array(
        z.strictObject({
          name: z.enum(NAMES),
          available: z.boolean(),
          reason: z
            .string()
            .nullable()
            .meta({ description: 'Why it is unavailable; null when it is available.' }),
        }),
      ),
    })
    .meta({ id: 'Services' }),
  errors: [],
  example: {
    response: {
      ...exampleHead,
      services: [
        { name: 'apps', available: true, reason: null },
        { name: 'editor', available: false, reason: SERVICES.editor.without },
      ],
    },
  },
  command: 'discovery services',
  run({ platform }) {
    const services = NAMES.map((name) => {
      const available = SERVICES[name].isThere(platform)
      return { name, available, reason: available ? null : SERVICES[name].without }
    })
    return Promise.resolve({ ...headOf(platform), services })
  },
})

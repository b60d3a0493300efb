import { z } from 'zod'
import type { Platform } from '../../platform.ts'

/** The fields with which every response of discovery begins. */
export const headFields = {
  service: z.string(),
  version: z.string(),
  api_version: z.literal('v1'),
  interfaces: z.strictObject({
    rest: z.string(),
    openapi: z.string(),
    docs: z.string(),
    mcp: z.string().nullable().meta({ description: 'Address of the tools; null: not served.' }),
    a2a: z.string().nullable().meta({ description: 'Address of the agent; null: not served.' }),
    agent_card: z.string().nullable().meta({ description: 'Its public card; null: not served.' }),
  }),
} as const

type Head = z.input<z.ZodObject<typeof headFields>>

/** What a response of discovery begins with. */
export function headOf({ catalogue, baseUrl, agentProtocols }: Platform): Head {
  const { service, version } = catalogue
  const served = (path: string): string | null => (agentProtocols ? baseUrl + path : null)
  return {
    service,
    version,
    api_version: 'v1',
    interfaces: {
      rest: `${baseUrl}/v1`,
      openapi: `${baseUrl}/v1/openapi.json`,
      docs: `${baseUrl}/docs`,
      mcp: served('/mcp'),
      a2a: served('/a2a'),
      agent_card: served('/.well-known/agent-card.json'),
    },
  }
}

export const exampleHead = {
  service: 'service',
  version: '0.1.0',
  api_version: 'v1',
  interfaces: {
    rest: 'http://127.0.0.1:8420/v1',
    openapi: 'http://127.0.0.1:8420/v1/openapi.json',
    docs: 'http://127.0.0.1:8420/docs',
    mcp: 'http://127.0.0.1:8420/mcp',
    a2a: 'http://127.0.0.1:8420/a2a',
    agent_card: 'http://127.0.0.1:8420/.well-known/agent-card.json',
  },
} as const

import { z } from 'zod'
import { agentCard, extendedCard } from '../../../agents/card.ts'
import { operation } from '../../../operations/operation.ts'
import { exampleHead, headFields, headOf } from '../head.ts'

export const getAgentCard = operation({
  effect: 'read',
  id: 'discovery.agent_card',
  summary: 'Show the card of this agent, with the skills that you may ask for',
  method: 'GET',
  path: '/v1/discovery/agent-card',
  access: { scope: 'discovery:read', pinned: 'allowed' },
  agent: { toolset: 'discovery' },
  emits: ['discovery'],
  input: {},
  output: z.strictObject({ ...headFields, card: agentCard }).meta({ id: 'ShownAgentCard' }),
  errors: [],
  example: {
    response: {
      ...exampleHead,
      card: {
        name: 'service',
        description: 'Builds, changes, publishes and watches web apps.',
        version: '0.1.0',
        documentationUrl: 'http://127.0.0.1:8420/docs',
        supportedInterfaces: [
          {
            url: 'http://127.0.0.1:8420/a2a',
            protocolBinding: 'JSONRPC',
            protocolVersion: '1.0',
          },
        ],
        capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
        securitySchemes: {
          developerKey: {
            httpAuthSecurityScheme: {
              description: 'A developer key.',
              scheme: 'Bearer',
              bearerFormat: 'opaque',
            },
          },
        },
        securityRequirements: [{ schemes: { developerKey: { list: [] } } }],
        defaultInputModes: ['text/plain', 'application/json'],
        defaultOutputModes: ['application/json', 'text/plain'],
        skills: [
          {
            id: 'observe_health',
            name: "Watch an app's health",
            description: 'Read the health of an app: availability and failed requests.',
            tags: ['health'],
            examples: ['Is the shop healthy?'],
            securityRequirements: [{ schemes: { developerKey: { list: ['observe:read'] } } }],
          },
        ],
      },
    },
  },
  command: 'discovery agent-card',
  run: ({ platform, principal }) =>
    Promise.resolve({ ...headOf(platform), card: extendedCard(platform, principal) }),
})

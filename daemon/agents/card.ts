/**
 * The card by which other agents find this one. All of it comes from the catalogue: no text of an account
 * is in it.
 *
 * @module
 */
import { z } from 'zod'
import { mayCall } from '../authority/admission.ts'
import type { Principal } from '../authority/principal.ts'
import type { CatalogueSkill, Platform } from '../platform.ts'

const requirements = z.array(
  z.strictObject({
    schemes: z.record(z.string(), z.strictObject({ list: z.array(z.string()) })),
  }),
)

/** A card of A2A 1.0. */
export const agentCard = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    documentationUrl: z.string(),
    supportedInterfaces: z.array(
      z.strictObject({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
    ),
    capabilities: z.strictObject({
      streaming: z.boolean(),
      pushNotifications: z.boolean(),
      extendedAgentCard: z.boolean(),
    }),
    securitySchemes: z.record(
      z.string(),
      z.strictObject({
        httpAuthSecurityScheme: z.strictObject({
          description: z.string(),
          scheme: z.string(),
          bearerFormat: z.string(),
        }),
      }),
    ),
    securityRequirements: requirements,
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        tags: z.array(z.string()),
        examples: z.array(z.string()),
        securityRequirements: requirements.optional(),
      }),
    ),
  })
  .meta({ id: 'AgentCard' })

export type AgentCard = z.input<typeof agentCard>

type Source = Pick<Platform, 'catalogue' | 'baseUrl'>

/** What the A2A endpoint serves of the optional parts of the protocol. */
export const CAPABILITIES: AgentCard['capabilities'] = {
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: true,
}

/** The card for everyone. */
export function publicCard(source: Source): AgentCard {
  return { ...cardOf(source), skills: source.catalogue.skills.map(describe) }
}

/** The card for a caller: the skills that it may ask for, with the scopes that they need. */
export function extendedCard(
  source: Source & Pick<Platform, 'universe'>,
  principal: Principal,
): AgentCard {
  const skills = source.catalogue.skills
    .filter(({ access }) => mayCall(principal, access, source.universe))
    .map((skill) => ({
      ...describe(skill),
      description: `${skill.description} ${source.baseUrl}/docs#${skill.operation} names its input.`,
      securityRequirements: [{ schemes: { developerKey: { list: [...skill.scopes] } } }],
    }))
  return { ...cardOf(source), skills }
}

function cardOf({ catalogue: { service, version }, baseUrl }: Source): Omit<AgentCard, 'skills'> {
  const url = `${baseUrl}/a2a`
  return {
    name: service,
    description: 'Builds, changes, publishes and watches web apps.',
    version,
    documentationUrl: `${baseUrl}/docs`,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: CAPABILITIES,
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
  }
}

function describe({
  id,
  name,
  description,
  tags,
  examples,
}: CatalogueSkill): AgentCard['skills'][number] {
  return { id, name, description, tags: [...tags], examples: [...examples] }
}

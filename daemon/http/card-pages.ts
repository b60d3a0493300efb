import { publicCard } from '../agents/card.ts'
import type { Platform } from '../platform.ts'
import type { Page } from './documents.ts'

/** The public card of the agent, at its path and at that of older callers. */
export function cardPages(
  platform: Pick<Platform, 'catalogue' | 'baseUrl'>,
): Readonly<Record<string, Page>> {
  const page = { type: 'application/json', body: JSON.stringify(publicCard(platform)) }
  return { '/.well-known/agent-card.json': page, '/.well-known/agent.json': page }
}

import type { Section } from '../table.ts'

export const AUTHORITY: Section = {
  letter: 'A',
  title: 'Authority that leaks sideways: webhooks, event types',
  size: 0,
  rows: [],
}

import type { Section } from '../table.ts'

export const OPERATORS: Section = {
  letter: 'P',
  title: 'Prompts, settings and the first minutes of an operator',
  size: 0,
  rows: [],
}

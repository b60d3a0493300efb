import type { Section } from '../table.ts'

export const OPERATIONS: Section = {
  letter: 'G',
  title: 'Every operation, by its declaration',
  size: 0,
  rows: [],
}

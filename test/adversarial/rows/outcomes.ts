import type { Section } from '../table.ts'

export const OUTCOMES: Section = {
  letter: 'O',
  title: 'Rotation, deliveries and records',
  size: 0,
  rows: [],
}

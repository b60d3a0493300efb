import type { Section } from '../table.ts'

export const HOSTING: Section = {
  letter: 'H',
  title: 'Published apps',
  size: 0,
  rows: [],
}

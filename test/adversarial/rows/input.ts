import type { Section } from '../table.ts'

export const INPUT: Section = {
  letter: 'E',
  title: 'Input and error responses',
  size: 0,
  rows: [],
}

import type { Section } from '../table.ts'

export const ARGUMENTS: Section = {
  letter: 'L',
  title: 'Arguments of the library',
  size: 0,
  rows: [],
}

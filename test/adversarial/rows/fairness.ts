import type { Section } from '../table.ts'

export const FAIRNESS: Section = {
  letter: 'F',
  title: 'Connections, shares of accounts, sign-in',
  size: 0,
  rows: [],
}

import type { Section } from '../table.ts'

export const RESPONSES: Section = {
  letter: 'R',
  title: 'Responses and request bodies: bytes, pages, slow peers',
  size: 0,
  rows: [],
}

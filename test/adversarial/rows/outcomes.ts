import type { Section } from '../table.ts'

export const OUTCOMES: Section = {
  letter: 'O',
  title: 'Rotation, deliveries and records',
  size: 1,
  rows: [
    {
      id: 'O01',
      case: 'a query parameter or a body field that the operation does not have, for every operation',
      answer: '`400 invalid_request`; the message lists the allowed names',
    },
  ],
}

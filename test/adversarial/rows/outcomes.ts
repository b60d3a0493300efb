import type { Section } from '../table.ts'

export const OUTCOMES: Section = {
  letter: 'O',
  title: 'Rotation, deliveries and records',
  size: 4,
  rows: [
    {
      id: 'O01',
      case: 'a query parameter or a body field that the operation does not have, for every operation',
      answer: '`400 invalid_request`; the message lists the allowed names',
    },
    {
      id: 'O02',
      case: 'a webhook is tested while the process, just started, takes over what dead processes had claimed',
      answer: 'sent once, and the attempt is in the answer: `200 succeeded`',
    },
    {
      id: 'O03',
      case: 'a webhook is disabled: one delivery had failed and waits for its retry, one was never tried',
      answer: '`exhausted webhook_disabled` and `skipped webhook_disabled`',
    },
    {
      id: 'O04',
      case: 'a manual retry is read while it is queued or in progress, alone and in the list',
      answer: 'its trigger is `manual` from the start',
    },
  ],
}

import type { Section } from '../table.ts'

export const BILLING: Section = {
  letter: 'M',
  title: 'Money',
  size: 11,
  rows: [
    {
      id: 'M01',
      case: 'a key reads balance, ledger, usage and limits with `billing:read`, `billing:*`, `*:read` or `*:*`',
      answer: '`200`',
    },
    {
      id: 'M02',
      case: 'a key reads them with the wildcards of other families, or pinned to an app',
      answer: '`403 insufficient_scope`; pinned, `403 key_pinned`',
    },
    {
      id: 'M03',
      case: 'a key of every scope sets the threshold, grants itself credit, or revokes credit',
      answer:
        '`403 owner_required` for what the owner may do, `403 operator_required` for what the operator may do',
    },
    {
      id: 'M04',
      case: 'the owner of an account grants themselves credit, or verifies the ledger',
      answer: '`403 operator_required`',
    },
    {
      id: 'M05',
      case: 'the operator revokes credit of one account on behalf of another, or reads a ledger for another',
      answer: '`404 credit_not_found`; `nothing of it` is listed',
    },
    {
      id: 'M06',
      case: 'a note or a name that a spreadsheet would run as a formula is in the ledger as CSV',
      answer: '`text`: no cell begins with it',
    },
    {
      id: 'M07',
      case: 'a request is repeated with its Idempotency-Key after the balance is used up',
      answer: '`202`: the first answer; it is judged before the balance, and nothing is held twice',
    },
    {
      id: 'M08',
      case: 'one Idempotency-Key is sent with a dry run and without',
      answer: '`200 quote`, `202 queued`, `200 quote`: a dry run neither uses nor answers it',
    },
    {
      id: 'M09',
      case: 'a key of every scope buys credit, subscribes, cancels, opens the portal, or gives a card',
      answer: '`403 owner_required`',
    },
    {
      id: 'M10',
      case: 'an event of the processor is forged, old or cut short',
      answer: '`400 invalid_signature`; nothing is credited',
    },
    {
      id: 'M11',
      case: 'the owner of an account reads an invoice of another, or is sent back to another site',
      answer: '`404 invoice_not_found`, `400 return_url_not_allowed`',
    },
  ],
}

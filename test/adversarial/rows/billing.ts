import type { Section } from '../table.ts'

export const BILLING: Section = {
  letter: 'M',
  title: 'Money',
  size: 17,
  rows: [
    {
      id: 'M01',
      case: 'a key reads balance, ledger, usage, limits and invoices with `billing:read`, `billing:*`, `*:read` or `*:*`',
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
    {
      id: 'M12',
      case: 'a key of every scope, pinned or not, or the owner of the account, verifies the ledger',
      answer: '`403 operator_required`',
    },
    {
      id: 'M13',
      case: 'an event of the processor is larger than 512 KiB, is empty, has no signature, or ends half way',
      answer:
        '`413 payload_too_large`, `400 invalid_signature`; of half an event `nothing is kept`',
    },
    {
      id: 'M14',
      case: 'an owner buys credit for 0, less than 0, less or more than one may buy, a fraction of a micro, 2^53, or an amount as another text',
      answer:
        '`400 amount_out_of_range` for an amount, `400 invalid_request` for what is none; nothing is asked of the processor',
    },
    {
      id: 'M15',
      case: 'an operator grants 0, less than 0, a fraction of a micro, 2^53, more than a balance may be, or an amount as another text',
      answer: '`400 amount_out_of_range` for an amount, `400 invalid_request` for what is none',
    },
    {
      id: 'M16',
      case: 'a threshold, or the budget of a key, is less than 0, a fraction, 2^53, or a text; a budget is 0',
      answer: '`400 invalid_request`',
    },
    {
      id: 'M17',
      case: 'events tell again and again of a payment that was declined, is on its way, or failed',
      answer: '`200`; the balance is `0`',
    },
  ],
}

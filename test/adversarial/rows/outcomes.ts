import type { Section } from '../table.ts'

export const OUTCOMES: Section = {
  letter: 'O',
  title: 'Rotation, deliveries and records',
  size: 15,
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
    {
      id: 'O05',
      case: 'a key is rotated four times within a day',
      answer:
        'five values work, `200`; each replaced one ends 24 hours after its own rotation, then `401 key_rotated`',
    },
    {
      id: 'O06',
      case: 'a fifth rotation within a day, by the user and by the key itself',
      answer:
        '`409 rotation_limit_reached` naming DELETE /v1/keys/{key_id}/previous, and the five still work, `200`; that ends all previous values, `401 key_rotated`',
    },
    {
      id: 'O07',
      case: 'a leaked value is replaced at once while five values work',
      answer:
        'grace 0 adds no live value: `201`, the leaked one is `401 key_rotated`, the others work on, `200`; with a grace `409 rotation_limit_reached`',
    },
    {
      id: 'O08',
      case: 'a key with five live values is narrowed, then revoked',
      answer:
        'each change is `200` and holds for all of them: `403 insufficient_scope`, then `401 key_revoked`',
    },
    {
      id: 'O09',
      case: 'a key asks for itself, its record being cached',
      answer: '`200` with last_used_at of this very request',
    },
    {
      id: 'O10',
      case: 'apps are listed with ?status=archived',
      answer: '`200`, archived apps alone',
    },
    {
      id: 'O11',
      case: 'an app is created from a prompt with ?wait',
      answer: 'answered once its edit has ended: `201 ready`',
    },
    {
      id: 'O12',
      case: 'an app is taken offline, twice',
      answer: '`200` with the deployment that took it offline, then with null',
    },
    {
      id: 'O13',
      case: 'the health of an app that nobody has visited',
      answer: '`200`: no requests yet, rather than 0 of 0',
    },
    {
      id: 'O14',
      case: 'docs/events.md is read by somebody who writes a receiver',
      answer: 'each type stands there once, with the whole body that is sent',
    },
    {
      id: 'O15',
      case: 'an account compares its positions in the feed, tries those of another account, and guesses numbers',
      answer:
        'positions tell nothing of what others publish; those of others and guesses are `400 invalid_cursor`; what an earlier release issued works, `200`',
    },
  ],
}

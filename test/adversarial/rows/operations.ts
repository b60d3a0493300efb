import type { Section } from '../table.ts'

const LINES: readonly (readonly [id: string, what: string, answer: string])[] = [
  [
    'G01',
    'an operation lets out data of a family that its scope does not read',
    'it declares so, with the scope that the caller must hold too or why none is needed: `declared`',
  ],
  [
    'G02',
    'a key that holds the scope of one operation alone calls it in every form, right and wrong',
    'a response or an error holds data of the declared families alone: `nothing else`',
  ],
  [
    'G03',
    'the same, with the ids of another account’s records',
    '`404` where the path names the record, and nothing of the other account anywhere',
  ],
  [
    'G04',
    'a key with webhooks:write alone registers, redirects, replays and tests webhooks for declared types',
    'what is sent holds data of built-in types, which is identifiers alone: `nothing else`',
  ],
  [
    'G05',
    'a key with edits:write alone asks for a prompt in an app with knowledge files',
    'the model is shown `no passages`',
  ],
  [
    'G06',
    'an operation that lets another family’s data out without a declaration',
    'this walk finds it: `apps`, `webhooks`',
  ],
  [
    'G07',
    'an operation that reads answers a list',
    'it is a page with a cursor, unless the release or a limit of its own bounds it: `paged`',
  ],
  [
    'G08',
    'a webhook for all built-in types receives what every operation of the walk publishes, each in a state in which it succeeds',
    'events hold identifiers: `nothing else`',
  ],
]

export const OPERATIONS: Section = {
  letter: 'G',
  title: 'Every operation, by its declaration',
  size: 8,
  rows: LINES.map(([id, what, answer]) => ({ id, case: what, answer })),
}

import type { Section } from '../table.ts'

export const OPERATORS: Section = {
  letter: 'P',
  title: 'Prompts, settings and the first minutes of an operator',
  size: 5,
  rows: [
    {
      id: 'P01',
      case: 'a key with `edits:write` but not `files:read` asks a model to repeat what knowledge files say',
      answer: '`no passage`: the model is shown none, and the edit says `withheld`',
    },
    {
      id: 'P02',
      case: 'a key loses `files:read` while its prompt waits',
      answer:
        '`no passage`: the scope is needed when the edit is asked for and when it runs; the edit says `withheld`',
    },
    {
      id: 'P03',
      case: 'a key creates an app by prompt without `files:read`',
      answer: 'the edit that makes the app says `withheld`',
    },
    {
      id: 'P04',
      case: 'a caller names a model that the operator did not name, for an edit or a new app',
      answer: '`400 model_not_allowed`, with the allowed models; nothing is queued',
    },
    {
      id: 'P05',
      case: 'the operator removes a model while a prompt that names it waits',
      answer: '`model_not_allowed`: the edit fails and no model is asked',
    },
  ],
}

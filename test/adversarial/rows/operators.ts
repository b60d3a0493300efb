import type { Section } from '../table.ts'

export const OPERATORS: Section = {
  letter: 'P',
  title: 'Prompts, settings and the first minutes of an operator',
  size: 17,
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
    {
      id: 'P06',
      case: 'sign-in is enabled for an app that is published, or about to be',
      answer: '`501 capability_unavailable`; nothing changes and the app goes on being served',
    },
    {
      id: 'P07',
      case: 'an app with sign-in enabled is published, rolled back, or published again as it is',
      answer: '`501 capability_unavailable`, also for a dry run; it can be taken offline',
    },
    {
      id: 'P08',
      case: 'an app was published with sign-in enabled by an earlier version, or by a race of two requests',
      answer: '`403`: no host of it serves its files, until sign-in is disabled',
    },
    {
      id: 'P09',
      case: 'a service or a sign-in setting is stored and taken for something that works',
      answer: 'the record says `in_use false`',
    },
    {
      id: 'P10',
      case: 'an address of another database, with a password in it, is given as the database',
      answer: '`refused`; the password is not printed',
    },
    {
      id: 'P11',
      case: 'the daemon starts while PostgreSQL cannot be reached',
      answer: '`host, port and cause`, and no password',
    },
    {
      id: 'P12',
      case: 'a newer version starts on an older database with another brand, or another master key',
      answer: '`refused`; nothing is migrated',
    },
    {
      id: 'P13',
      case: 'an email is given for the first user without a password, or a password without an email',
      answer: '`refused`, naming the setting that is missing',
    },
    {
      id: 'P14',
      case: 'the doctor is asked before the first start',
      answer: '`ok`: it says what serve would create, and creates nothing',
    },
    {
      id: 'P15',
      case: 'a person, and a program, open the address of the API',
      answer: '`200 html` for the person, with links and no script, `200 json` for the program',
    },
    {
      id: 'P16',
      case: 'a receiver fails and a request bears a secret in its query, with the log at debug',
      answer:
        '`delivery.failed` and `request` with ids and codes; no body, address or query is logged',
    },
    {
      id: 'P17',
      case: 'a newer version starts on an older database, and a setting names a type of the service, a plugin that cannot be loaded, a model without a server, or a password that is too short',
      answer:
        '`refused`, naming the setting; nothing is migrated, and a first start creates no database',
    },
  ],
}

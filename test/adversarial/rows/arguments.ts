import type { Section } from '../table.ts'

export const ARGUMENTS: Section = {
  letter: 'L',
  title: 'Arguments of the library',
  size: 12,
  rows: [
    {
      id: 'L01',
      case: 'keys.verify with { scopes } for a key that lacks one of them, as a list or several',
      answer: '`403 insufficient_scope`, which names what is missing',
    },
    {
      id: 'L02',
      case: 'keys.verify with the scope as a string in place of the requirement',
      answer: '`TypeError`, and never a grant',
    },
    {
      id: 'L03',
      case: 'keys.verify with a misspelt, inherited or unknown name in the requirement',
      answer: '`TypeError` that lists scope, scopes and app',
    },
    {
      id: 'L04',
      case: 'keys.verify with no requirement, an empty one, an empty list, or one that is undefined',
      answer: '`TypeError`; a call that requires nothing passes { scope: null }',
    },
    {
      id: 'L05',
      case: 'keys.verify with undefined, null, a number or an object as the key',
      answer: '`401 missing_credentials`, or `401 invalid_key` for what is no string',
    },
    {
      id: 'L06',
      case: 'keys.verify with an app that is not among the pins of the key',
      answer: '`404 app_not_found`',
    },
    {
      id: 'L07',
      case: 'webhooks.publish with a misspelt or undefined transaction, or with data that is a list',
      answer: '`TypeError`; nothing is written',
    },
    {
      id: 'L08',
      case: 'resolve answers a misspelt authenticated_at, which would count as a sign-in of just now',
      answer: '`500`; no key is created',
    },
    {
      id: 'L09',
      case: 'allows with a string as the scopes of the holder, or a wildcard as the required scope',
      answer: '`TypeError`',
    },
    {
      id: 'L10',
      case: 'mintToken and mintSecret with a source of randomness that answers a string of that length',
      answer: '`TypeError`',
    },
    {
      id: 'L11',
      case: 'verifyWebhook with a misspelt tolerance, or NaN',
      answer: '`TypeError`',
    },
    {
      id: 'L12',
      case: 'createKeyhook with a misspelt setting, dispatch as text, or a data folder that is held or cannot be created, as /proc/nope',
      answer:
        '`TypeError`, or `ConfigError` for the folder: messages name settings as code does, as dataDir',
    },
  ],
}

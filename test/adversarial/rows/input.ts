import type { Section } from '../table.ts'

export const INPUT: Section = {
  letter: 'E',
  title: 'Input and error responses',
  size: 21,
  rows: [
    {
      id: 'E01',
      case: 'a body with 1,000 unknown names, 64 wrong scopes, or 500 wrong files',
      answer: '`400 invalid_request` with 50 errors and more_errors in its details, at most 64 KiB',
    },
    {
      id: 'E02',
      case: '500 events of 1,400 unknown names each, 7 MB; of long names; and of types that are not declared',
      answer: '`202`, each event refused with its code, at most 50 errors in all, at most 64 KiB',
    },
    {
      id: 'E03',
      case: '700,000 unknown names; 60,000 of which 9,000 differ',
      answer: '`400 invalid_json` before it is parsed; `400 invalid_request` with 50 errors',
    },
    {
      id: 'E04',
      case: '6.9 kB of unknown names sent to the public sign-in',
      answer: '`400 invalid_request`, smaller than the request',
    },
    {
      id: 'E05',
      case: 'to every operation that takes JSON, and in place of each of its members: many elements, names, digits, levels, escapes, and long texts',
      answer:
        '`400 invalid_json`, `400 invalid_request`, `400 undeclared_event_type` or `413 payload_too_large`, never a 5xx; each lists at most 50 errors and is at most 64 KiB',
    },
    {
      id: 'E06',
      case: 'names and values of control characters, which JSON escapes at six times their size',
      answer: '`400 invalid_request` or `400 invalid_scope`, at most 64 KiB',
    },
    {
      id: 'E07',
      case: 'half of a surrogate pair in a key, a value, a list, a batch, or hidden by a duplicate key; as an escape or as bytes',
      answer:
        '`400 invalid_json` with its location; noncharacters are text, so what is refused is the type: `400 undeclared_event_type`',
    },
    {
      id: 'E08',
      case: 'half of a surrogate pair in the body of every operation',
      answer: '`400 invalid_json` with its location',
    },
    {
      id: 'E09',
      case: 'an embedder publishes half of a surrogate pair, or a NUL',
      answer: '`400 invalid_json` with its location; nothing is published',
    },
    {
      id: 'E10',
      case: 'percent-encoded bytes that are not UTF-8, in a path, a parameter, or its name',
      answer:
        '`400 invalid_request` with its location; a percent sign that encodes nothing is text: `404 key_not_found`',
    },
    {
      id: 'E11',
      case: 'names, file names and texts of a multipart body that are not UTF-8',
      answer: '`400 invalid_multipart` with its location',
    },
    {
      id: 'E12',
      case: 'bodies that change nothing, are of two forms at once, or hold a NUL or a malformed id, type, url, hostname, email, header, path or configuration',
      answer:
        'the document forbids each: `400 invalid_request`, `400 invalid_json`, `400 invalid_source`, `400 invalid_edit`, `400 invalid_url`, `400 path_not_allowed`, `400 config_not_allowed`',
    },
    {
      id: 'E13',
      case: 'a method that a path does not take, beside a path with a parameter that does',
      answer: '`405 method_not_allowed`, and Allow names the methods of that path alone',
    },
    {
      id: 'E14',
      case: 'operations that this installation is not set up for, asked with wrong input or of what does not exist',
      answer: '`400 invalid_request` or `404 app_not_found`, never 501',
    },
    {
      id: 'E15',
      case: 'a client reads a stream by the document',
      answer: '`200`: each item is an event whose data is a text with JSON in it',
    },
    {
      id: 'E16',
      case: 'a file of 9 MiB in base64; the same without its padding, or with a character that base64 has not at its end',
      answer: '`201`; `400 invalid_request`',
    },
    {
      id: 'E17',
      case: '40 requests at once for a file of 5 MiB, under a limit of 16 MiB for responses',
      answer:
        'two read it, `200`; the others are `429 too_many_bytes`, and have read nothing of it',
    },
    {
      id: 'E18',
      case: 'the tree of a revision with 720 kB of configuration, while responses may hold 256 KiB more',
      answer: '`429 too_many_bytes` before more of it is read; `200` once there is room',
    },
    {
      id: 'E19',
      case: 'a pattern of the document that validators read differently, such as `\\p{C}` or `\\d`',
      answer: 'there is none: `0` patterns',
    },
    {
      id: 'E20',
      case: 'an email address of any characters that the document allows; 101 records of a list; an empty prompt as a form',
      answer: '`401 invalid_credentials`; `400 invalid_request`, as the document says',
    },
    {
      id: 'E21',
      case: '500 events, and a webhook of 100 types, all undeclared and each near to a declared type: every suggestion compares a type with all that are declared',
      answer: '`202` and `400 unknown_event_type`, each with `5 suggestions`',
    },
  ],
}

import type { Section } from '../table.ts'

export const RESPONSES: Section = {
  letter: 'R',
  title: 'Responses and request bodies: bytes, pages, slow peers',
  size: 29,
  rows: [
    {
      id: 'R01',
      case: 'A key lists 100 events of 250 KB, newest first and as a feed.',
      answer:
        '`200` with at most 2 MiB of records and has_more; following next_cursor, or the position of the last event, gives every event once, in order.',
    },
    {
      id: 'R02',
      case: 'The page is made of 100 such events: what is read of the database for it.',
      answer: 'At most 2 MiB and one event more.',
    },
    {
      id: 'R03',
      case: 'A record alone is larger than a page.',
      answer: 'It is a page of its own, and the next cursor leads beyond it.',
    },
    {
      id: 'R04',
      case: 'A key lists 100 edits whose prompts have 80 KB each.',
      answer: '`200` with at most 2 MiB of records and has_more; following next_cursor gives all.',
    },
    {
      id: 'R05',
      case: 'A read-only key asks for pages of 2 MiB over 60 connections and never reads.',
      answer:
        'What responses hold stays within the limit of the process, and the requests beyond it are `429 too_many_bytes` with Retry-After. Nothing is held once the connections are gone.',
    },
    {
      id: 'R06',
      case: 'Another account asks while one that never reads has all bytes of responses.',
      answer:
        'It gets `200`, and as much as the first when it asks for it: the newest responses of the account that holds most are cut.',
    },
    {
      id: 'R07',
      case: 'An account whose responses hold all it may have asks for a change.',
      answer: '`429 too_many_bytes` before anything is done.',
    },
    {
      id: 'R08',
      case: 'A caller pipelines 100 reads over one connection, reads nothing, and leaves.',
      answer: 'Each is counted while it waits, and none afterwards.',
    },
    {
      id: 'R09',
      case: 'A caller reads a response of 2 MiB slower than 1 KiB/s.',
      answer: 'The connection is cut, and its bytes are given back.',
    },
    {
      id: 'R10',
      case: 'A stream is idle for ten minutes.',
      answer: 'It goes on: only bytes that wait are slow.',
    },
    {
      id: 'R11',
      case: 'A key sends 40 bodies of 16 MiB by half.',
      answer:
        'Bodies hold at most the limit of the process, counted before they are read; the others are `429 too_many_bytes`, and their connections are closed.',
    },
    {
      id: 'R12',
      case: 'Another account sends a body meanwhile, with its length or in chunks.',
      answer:
        'It is taken with `200`; the newest body of the other is refused with `429 too_many_bytes`.',
    },
    {
      id: 'R13',
      case: 'A JSON body, or a form, has started and arrives slower than 1 KiB/s.',
      answer: '`408 body_too_slow`, and the connection is closed.',
    },
    {
      id: 'R14',
      case: 'The same in a server of the embedder: plain http, Koa, Express, Fastify.',
      answer:
        'The same limits: `429 too_many_bytes` for the body and for the response that do not fit.',
    },
    {
      id: 'R15',
      case: 'A client leaves in the middle of its body, many times, alone or behind another request.',
      answer: 'Nothing is held for it afterwards: neither its body nor a response.',
    },
    {
      id: 'R16',
      case: 'An embedder calls a change in process, and its response does not fit.',
      answer: 'The change is made; the call rejects, and does not wait for ever.',
    },
    {
      id: 'R17',
      case: 'Another account sends a body that does not fit beside one that was read and is in use.',
      answer:
        '`429 too_many_bytes`: a body that was read is counted until its operation has ended.',
    },
    {
      id: 'R18',
      case: 'Thirty-two networks hold as many half-sent sign-ins as fit, and an account publishes a large batch.',
      answer:
        'Bodies of anonymous networks have a pool of their own: `202` to the account, and `401 invalid_credentials` to another network that signs in.',
    },
    {
      id: 'R19',
      case: 'Anonymous networks hold all the bytes of responses that they may, and a key lists events.',
      answer: 'Responses to them are counted apart: `200`.',
    },
    {
      id: 'R20',
      case: 'A client opens four streams over one connection, where each waits behind the one before, and leaves.',
      answer: 'All of them end at once: `0 open`.',
    },
    {
      id: 'R21',
      case: 'A key declares an event type whose schema, or sample, has more than 16 KiB of JSON.',
      answer: '`400 invalid_request`, which names the limit.',
    },
    {
      id: 'R22',
      case: 'An account has as many event types as it may, each as large as it may be, and one of 1 MiB that an earlier release took. A key lists them.',
      answer:
        '`200` with at most 2 MiB of records, or one, and has_more; a page reads 2 MiB of the database and one type more. Following next_cursor gives every type once.',
    },
    {
      id: 'R23',
      case: 'What is read of those types when one of them is declared anew, and when an event is published after that.',
      answer: 'Their names alone: `200`, `202`.',
    },
    {
      id: 'R24',
      case: 'An account has 100 apps whose metadata is as large as it may be. A key lists them.',
      answer:
        '`200`: a page reads 2 MiB of the database and one app more. Following next_cursor gives every app once.',
    },
    {
      id: 'R25',
      case: 'What is read of those apps when a key is minted that is pinned to all of them.',
      answer: 'Their ids alone: `201`.',
    },
    {
      id: 'R26',
      case: 'An app has as many services as it may, each with 50 secrets and a configuration as large as it may be. A key lists them, and reads one.',
      answer:
        '`200`: a page reads 2 MiB of the database and one service more, and reading one reads its configuration once. Following next_cursor gives every service once.',
    },
    {
      id: 'R27',
      case: 'An account has as many webhooks as it may, each with headers as large as they may be and five secrets. A key lists them, and reads what one of its keys set.',
      answer:
        '`200`: a page reads 2 MiB of the database and one webhook more, and no webhook is read once for each of its secrets. Following next_cursor gives every webhook once.',
    },
    {
      id: 'R28',
      case: 'A key publishes small events under the ids of events of 250 KB.',
      answer: '`202`, with `409 event_id_conflict` for each; the events of 250 KB are not read.',
    },
    {
      id: 'R29',
      case: 'A key retries one delivery over and over: its attempts are read as one record.',
      answer: '`409 retry_limit_reached` from 100 attempts on.',
    },
  ],
}

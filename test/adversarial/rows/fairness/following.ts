import type { Row } from '../../table.ts'

/** Streams and long polls. */
export const FOLLOW_ROWS: readonly Row[] = [
  {
    id: 'F56',
    case: 'Five streams of the previews of an app begin before 1,000 requests to what is published; then one request to the preview comes.',
    answer: 'An index leads to the lines of an environment: `1 line read` by each stream.',
  },
  {
    id: 'F57',
    case: 'Twenty streams of one account read 1,000 lines each from the beginning, and another account opens one stream.',
    answer:
      'Streams wait for the turn of their account before each 200 lines: `4 reads at a time`; `a line to another account`, which has the next place.',
  },
  {
    id: 'F58',
    case: 'Twenty streams of the previews of an app begin before 1,000 requests to what is published, and their clients disconnect while the first four are read.',
    answer: 'What nobody follows is read no further: `4 reads`.',
  },
  {
    id: 'F59',
    case: 'Clients follow a log, an edit and a deployment in which nothing happens, and disconnect.',
    answer:
      'Nothing is looked at any more: `0 reads of the log`, `0 reads of the edit`, `0 reads of the deployment`.',
  },
  {
    id: 'F60',
    case: 'Clients wait 25 seconds for an edit and a deployment, and disconnect.',
    answer: 'The same: `0 reads of the edit`, `0 reads of the deployment`.',
  },
]

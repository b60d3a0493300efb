import type { EditFailure, EditRecord, EditUsage, EditedFile } from '../contract/edits.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, jsonOrNull, textOrNull, toCreator } from '../../store/sql/rows.ts'

/** What a record of an edit says, by column. */
export const COLUMNS = [
  'id',
  'app_id',
  'account_id',
  'kind',
  'initial',
  'status',
  'prompt',
  'model',
  'knowledge',
  'message',
  'reverts',
  'base_revision',
  'result_revision',
  'summary',
  'changed',
  'usage',
  'error',
  'created_by_type',
  'created_by_id',
  'created_at',
  'started_at',
  'finished_at',
] as const

type Values = Readonly<Record<(typeof COLUMNS)[number], unknown>>

export function toValues(edit: EditRecord): Values {
  return {
    ...edit,
    initial: edit.initial ? 1 : 0,
    ...toTexts(edit),
    created_by_type: edit.created_by.type,
    created_by_id: edit.created_by.id,
  }
}

/** What of an edit is kept as JSON. */
export function toTexts({
  changed,
  usage,
  error,
}: Pick<EditRecord, 'changed' | 'usage' | 'error'>) {
  return {
    changed: JSON.stringify(changed),
    usage: usage && JSON.stringify(usage),
    error: error && JSON.stringify(error),
  }
}

export function toEdit(row: Row): EditRecord {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    account_id: String(row['account_id']),
    kind: row['kind'] as EditRecord['kind'],
    initial: integer(row['initial']) === 1,
    status: row['status'] as EditRecord['status'],
    prompt: textOrNull(row['prompt']),
    model: textOrNull(row['model']),
    knowledge: textOrNull(row['knowledge']) as EditRecord['knowledge'],
    message: textOrNull(row['message']),
    reverts: textOrNull(row['reverts']),
    base_revision: integerOrNull(row['base_revision']),
    result_revision: integerOrNull(row['result_revision']),
    summary: textOrNull(row['summary']),
    changed: JSON.parse(String(row['changed'])) as readonly EditedFile[],
    usage: jsonOrNull<EditUsage>(row['usage']),
    error: jsonOrNull<EditFailure>(row['error']),
    stage: textOrNull(row['stage']),
    done: integer(row['done'] ?? 0),
    total: integerOrNull(row['total']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    started_at: integerOrNull(row['started_at']),
    finished_at: integerOrNull(row['finished_at']),
  }
}

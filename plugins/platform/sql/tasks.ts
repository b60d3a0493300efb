import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import type { Row } from '../../store/sql/rows.ts'
import { assignments, insertion, integer } from '../../store/sql/rows.ts'
import type {
  TaskListQuery,
  TaskMessage,
  TaskProgress,
  TaskReads,
  TaskWrites,
} from '../contract/tasks.ts'
import { KEPT_WITHOUT_WORK, MOST_TASKS_COUNTED, TASK_PAGE_BYTES } from '../contract/tasks.ts'
import type { Condition } from '../../store/sql/conditions.ts'
import { allOf, asked, equal } from '../../store/sql/conditions.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { AGENT_MESSAGES, AGENT_PUSHES, AGENT_TASKS } from '../models/tasks.ts'
import type { ReadScope as Scope } from './scope.ts'
import type { PlatformModel } from './tables.ts'

type ReadScope = Pick<Scope, 'query' | 't' | 'dialect'>

export function taskReads({ query, t, dialect }: ReadScope): TaskReads {
  const tasks = recordsOf(query, t, AGENT_TASKS)
  const messages = recordsOf(query, t, AGENT_MESSAGES)
  const pushes = recordsOf(query, t, AGENT_PUSHES)

  const filtersOf = ({ apps, state, since }: TaskListQuery): readonly Condition[] => [
    ...having(AGENT_TASKS, { state }),
    asked('bigint', since, 'state_at >= CAST($1 AS BIGINT)'),
    asked(
      'text',
      apps && JSON.stringify(apps),
      `(app_id IS NULL OR ${dialect.among('app_id', '$1')})`,
    ),
  ]

  /** Of the newest, so that a count looks at no more rows than a page. */
  async function total(of: Condition, filters: readonly Condition[]): Promise<number> {
    const { sql, bind } = allOf([of, ...filters])
    const [row] = await query(
      `SELECT count(*) AS count FROM (SELECT * FROM ${t.agent_tasks} WHERE ${of.sql}
         ORDER BY state_at DESC, id DESC LIMIT ${MOST_TASKS_COUNTED}) newest WHERE ${sql}`,
      bind,
    )
    return integer(row?.['count'])
  }

  return {
    get: (key_id, id) => tasks.get({ id, key_id }),
    async sent(keyId, messageId, about) {
      const message = await messages.first(
        'key_id = $1 AND message_id = $2 AND about = $3 AND stands = 1',
        [keyId, messageId, about],
      )
      const task = message && (await tasks.get({ id: message.task_id }))
      return message && task && { task, message }
    },
    async list(asking) {
      const { key_id, context_id, limit, after } = asking
      const of = context_id === null ? { key_id } : { key_id, context_id }
      const filters = filtersOf(asking)
      const key = ['state_at', 'id']
      const wide = { wide: ['asked', 'answer'], bytes: TASK_PAGE_BYTES }
      const page = await tasks.page({
        of,
        key,
        filters,
        most: MOST_LOOKED_AT,
        limit,
        after,
        ...wide,
      })
      return { ...page, total: await total(equal(of), filters) }
    },
    async messages(taskId, last) {
      const newest = await messages.select('task_id = $1 ORDER BY number DESC LIMIT $2', [
        taskId,
        last,
      ])
      return newest.toReversed()
    },
    async messagesOfEach(taskIds, last) {
      const rows = await query(
        `SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY task_id ORDER BY number DESC) AS place
           FROM ${t.agent_messages} WHERE ${dialect.among('task_id', '$1')}) newest
         WHERE place <= CAST($2 AS BIGINT) ORDER BY task_id, number`,
        [JSON.stringify(taskIds), last],
      )
      const found = new Map<string, TaskMessage[]>(taskIds.map((id) => [id, []]))
      for (const message of rows.map(AGENT_MESSAGES.toRecord)) {
        found.get(message.task_id)?.push(message)
      }
      return found
    },
    async sizes(taskIds) {
      const rows = await query(
        `SELECT id, bytes FROM ${t.agent_tasks} WHERE ${dialect.among('id', '$1')}`,
        [JSON.stringify(taskIds)],
      )
      return new Map(rows.map(({ id, bytes }) => [String(id), integer(bytes)]))
    },
    pushes: (taskId) => pushes.select('task_id = $1 ORDER BY id', [taskId]),
    async endedPushes(accountId, before, limit) {
      const rows = await query(
        `SELECT push.* FROM ${t.agent_pushes} push
         LEFT JOIN ${t.agent_tasks} task ON task.id = push.task_id
         WHERE (CAST($1 AS TEXT) IS NULL OR push.account_id = $1)
           AND (task.id IS NULL OR (task.state_at < CAST($2 AS BIGINT)
             AND task.state NOT IN ('submitted', 'working', 'input_required')))
         ORDER BY push.created_at, push.task_id, push.id LIMIT $3`,
        [accountId, before, limit],
      )
      return rows.map(AGENT_PUSHES.toRecord)
    },
  }
}

export function taskWrites({ query, t, dialect }: ReadScope): TaskWrites {
  async function put({ table }: PlatformModel, row: Row): Promise<boolean> {
    const { sql, bind } = insertion(row)
    const rows = await query(
      `INSERT INTO ${t[table]} ${sql} ON CONFLICT DO NOTHING RETURNING 1`,
      bind,
    )
    return rows.length > 0
  }

  /** Adds all of them or, where the first is a repetition, none: those of the agent repeat nothing. */
  async function say(messages: readonly TaskMessage[]): Promise<boolean> {
    for (const message of messages) {
      if (!(await put(AGENT_MESSAGES, AGENT_MESSAGES.toRow(message)))) return false
    }
    return true
  }

  const asks = async (id: string): Promise<boolean> => {
    const rows = await query(
      `SELECT 1 FROM ${t.agent_tasks} WHERE id = $1 AND state = 'input_required'`,
      [id],
    )
    return rows.length > 0
  }

  /**
   * Deletes the oldest tasks without work of the key that made the account have too many, down to its share
   * at most: no key deletes those of another.
   */
  async function trim(accountId: string, keyId: string): Promise<void> {
    const [held] = await query(
      `SELECT count(*) AS tasks, COALESCE(sum(bytes), 0) AS bytes, count(DISTINCT key_id) AS keys
       FROM ${t.agent_tasks} WHERE account_id = $1 AND subject_id IS NULL`,
      [accountId],
    )
    const { tasks, bytes } = KEPT_WITHOUT_WORK
    const tooMany = integer(held?.['tasks']) - tasks
    const tooLarge = integer(held?.['bytes']) - bytes
    if (tooMany <= 0 && tooLarge <= 0) return
    const keys = integer(held?.['keys'])
    const share = {
      tasks: Math.max(Math.floor(tasks / keys), LEAST_SHARE.tasks),
      bytes: Math.max(Math.floor(bytes / keys), LEAST_SHARE.bytes),
    }
    const beyond = await query(
      `SELECT id FROM (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total,
           count(*) OVER () AS own_tasks, sum(bytes) OVER () AS own_bytes
         FROM ${t.agent_tasks} WHERE account_id = $1 AND key_id = $2 AND subject_id IS NULL
         WINDOW newest AS (ORDER BY state_at DESC, id DESC)) kept
       WHERE place > 1 AND (
         (place > CAST($3 AS BIGINT) AND own_tasks - place < CAST($4 AS BIGINT)) OR
         (total > CAST($5 AS BIGINT) AND own_bytes - total < CAST($6 AS BIGINT)))`,
      [accountId, keyId, share.tasks, tooMany, share.bytes, tooLarge],
    )
    if (beyond.length === 0) return
    // Another unit may be deleting them.
    const own = await query(
      `SELECT id FROM ${t.agent_tasks} WHERE ${dialect.among('id', '$1')} ORDER BY id ${dialect.skipLocked}`,
      [JSON.stringify(beyond.map(({ id }) => id))],
    )
    const ids = [JSON.stringify(own.map(({ id }) => id))]
    await query(`DELETE FROM ${t.agent_messages} WHERE ${dialect.among('task_id', '$1')}`, ids)
    await query(`DELETE FROM ${t.agent_tasks} WHERE ${dialect.among('id', '$1')}`, ids)
  }

  return {
    ...taskReads({ query, t, dialect }),
    async insert(task, messages) {
      if (!(await say(messages))) return false
      const bytes = bytesOf(task, messages)
      if (!(await put(AGENT_TASKS, { ...AGENT_TASKS.toRow(task), bytes }))) return false
      if (task.subject_id === null) await trim(task.account_id, task.key_id)
      return true
    },
    async proceed(id, { at, ...next }, messages) {
      if (!(await asks(id)) || !(await say(messages))) return false
      const { sql, bind } = assignments(AGENT_TASKS.toRow({ ...next, updated_at: at }), 4)
      const [row] = await query(
        `UPDATE ${t.agent_tasks} SET ${sql}, ${LATER}, bytes = bytes + CAST($3 AS BIGINT)
         WHERE id = $1 RETURNING account_id, key_id`,
        [id, at, bytesOf(next, messages), ...bind],
      )
      if (row !== undefined && next.subject_id === null) {
        await trim(String(row['account_id']), String(row['key_id']))
      }
      return true
    },
    async move(subjectId, { at, ...to }) {
      const { sql, bind } = assignments(AGENT_TASKS.toRow({ ...to, updated_at: at }), 4)
      const [row] = await query(
        `UPDATE ${t.agent_tasks} SET ${sql}, ${LATER}, started_at = CASE
           WHEN $3 = 'working' AND started_at IS NULL THEN CAST($2 AS BIGINT) ELSE started_at END
         WHERE subject_id = $1 AND state IN ('submitted', 'working') AND state <> $3 RETURNING *`,
        [subjectId, at, to.state, ...bind],
      )
      return row && AGENT_TASKS.toRecord(row)
    },
    async lock(keyId, id) {
      const [row] = await query(
        `UPDATE ${t.agent_tasks} SET updated_at = updated_at WHERE id = $1 AND key_id = $2 RETURNING *`,
        [id, keyId],
      )
      return row && AGENT_TASKS.toRecord(row)
    },
    async putPush(push) {
      const { task_id, id } = push
      await query(`DELETE FROM ${t.agent_pushes} WHERE task_id = $1 AND id = $2`, [task_id, id])
      await put(AGENT_PUSHES, AGENT_PUSHES.toRow(push))
    },
    async dropPush({ task_id, id, webhook_id }) {
      const rows = await query(
        `DELETE FROM ${t.agent_pushes} WHERE task_id = $1 AND id = $2 AND webhook_id = $3 RETURNING 1`,
        [task_id, id, webhook_id],
      )
      return rows.length > 0
    },
  }
}

/** What each key keeps, however many keys the account has. */
const LEAST_SHARE = { tasks: 50, bytes: 2 * 1024 * 1024 } as const

/** What a task and new messages of it take; an estimate. */
function bytesOf(
  { asked, answer }: Pick<TaskProgress, 'asked' | 'answer'>,
  messages: readonly TaskMessage[],
): number {
  const bodies = messages.map(({ body }) => body)
  return Buffer.byteLength(JSON.stringify([asked, bodies])) + Buffer.byteLength(answer ?? '')
}

/** A clock that was set back does not move a task behind others. $2 is now. */
const LATER = `state_at = CASE WHEN state_at > CAST($2 AS BIGINT) THEN state_at ELSE CAST($2 AS BIGINT) END`

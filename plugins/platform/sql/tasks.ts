import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import type { Row } from '../../store/sql/rows.ts'
import { assignments, insertion, integer } from '../../store/sql/rows.ts'
import type {
  SentMessage,
  TaskListQuery,
  TaskMessage,
  TaskReads,
  TaskWrites,
} from '../contract/tasks.ts'
import { MOST_TASKS_COUNTED } from '../contract/tasks.ts'
import type { Condition } from '../model/conditions.ts'
import { allOf, asked, equal, having } from '../model/conditions.ts'
import { recordsOf } from '../model/records.ts'
import { AGENT_MESSAGES, AGENT_TASKS } from '../models/tasks.ts'
import type { ReadScope as Scope } from './scope.ts'
import type { PlatformModel } from './tables.ts'

type ReadScope = Pick<Scope, 'query' | 't' | 'dialect'>

export function taskReads({ query, t, dialect }: ReadScope): TaskReads {
  const tasks = recordsOf(query, t, AGENT_TASKS)
  const messages = recordsOf(query, t, AGENT_MESSAGES)

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
      const found = await messages.select(
        `key_id = $1 AND message_id = $2 AND about = $3 AND role = 'user'
         ORDER BY task_id DESC, number DESC LIMIT 20`,
        [keyId, messageId, about],
      )
      const sent: SentMessage[] = []
      for (const message of found) {
        const task = await tasks.get({ id: message.task_id })
        if (task !== undefined) sent.push({ task, message })
      }
      return sent
    },
    async list(asking) {
      const { key_id, context_id, limit, after } = asking
      const of = context_id === null ? { key_id } : { key_id, context_id }
      const filters = filtersOf(asking)
      const key = ['state_at', 'id']
      const page = await tasks.page({ of, key, filters, most: MOST_LOOKED_AT, limit, after })
      return { ...page, total: await total(equal(of), filters) }
    },
    async messages(taskId, last) {
      const newest = await messages.select('task_id = $1 ORDER BY number DESC LIMIT $2', [
        taskId,
        last,
      ])
      return newest.toReversed()
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

  return {
    ...taskReads({ query, t, dialect }),
    insert: async (task, messages) =>
      (await say(messages)) && put(AGENT_TASKS, AGENT_TASKS.toRow(task)),
    async proceed(id, { at, ...next }, messages) {
      if (!(await asks(id)) || !(await say(messages))) return false
      const numbers = messages.map(({ number }) => number)
      await query(
        `UPDATE ${t.agent_messages} SET stands = 0 WHERE task_id = $1 AND work = 0 AND number < CAST($2 AS BIGINT)
         RETURNING 1`,
        [id, numbers[0] ?? Number.MAX_SAFE_INTEGER],
      )
      const { sql, bind } = assignments(AGENT_TASKS.toRow({ ...next, updated_at: at }), 3)
      await query(`UPDATE ${t.agent_tasks} SET ${sql}, ${LATER} WHERE id = $1 RETURNING 1`, [
        id,
        at,
        ...bind,
      ])
      return true
    },
    async move(subjectId, { at, ...to }) {
      const { sql, bind } = assignments(AGENT_TASKS.toRow({ ...to, updated_at: at }), 4)
      const [row] = await query(
        `UPDATE ${t.agent_tasks} SET ${sql}, ${LATER}
         WHERE subject_id = $1 AND state IN ('submitted', 'working') AND state <> $3 RETURNING *`,
        [subjectId, at, to.state, ...bind],
      )
      return row && AGENT_TASKS.toRecord(row)
    },
  }
}

/** A clock that was set back does not move a task behind others. $2 is now. */
const LATER = `state_at = CASE WHEN state_at > CAST($2 AS BIGINT) THEN state_at ELSE CAST($2 AS BIGINT) END`

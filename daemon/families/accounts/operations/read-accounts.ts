import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import {
  accountPage,
  exampleAccount,
  toWireAccount,
  accountParams,
  accountRecord,
} from '../schema.ts'
import { findAccount } from '../service.ts'

export const listAccounts = operation({
  effect: 'read',
  id: 'accounts.list',
  summary: 'List every account',
  method: 'GET',
  path: '/v1/accounts',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['accounts'],
  input: { query: z.strictObject(pageQuery) },
  output: accountPage,
  errors: ['operator_required', 'invalid_cursor'],
  example: { response: { data: [exampleAccount], has_more: false, next_cursor: null } },
  command: 'account list',
  async run({ platform, query }) {
    const { limit, after, answer } = paging(query, { list: 'accounts' })
    return answer(
      await platform.store.accounts.list({ limit, after }),
      ({ id }) => id,
      toWireAccount,
    )
  },
})

export const getAccount = operation({
  effect: 'read',
  id: 'accounts.get',
  summary: 'Show one account',
  method: 'GET',
  path: '/v1/accounts/{account_id}',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['accounts'],
  input: { params: accountParams },
  output: accountRecord,
  errors: ['operator_required', 'account_not_found'],
  example: { params: { account_id: exampleAccount.id }, response: exampleAccount },
  command: 'account get',
  async run({ platform, params }) {
    return toWireAccount(await findAccount(platform.store.accounts, params.account_id))
  },
})

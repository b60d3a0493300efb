import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { idOf, listPage } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { exampleMember, memberPage, toWireMember } from '../schema.ts'
import { requireUser } from '../session.ts'

export const listMembers = operation({
  effect: 'read',
  id: 'accounts.list_members',
  summary: 'List the members of your account, newest first',
  method: 'GET',
  path: '/v1/members',
  access: 'user',
  agent: { omit: "A person's view of their account; no key needs the addresses of people." },
  emits: ['accounts'],
  input: { query: z.strictObject(pageQuery) },
  output: memberPage,
  errors: ['session_required', 'session_expired', 'invalid_cursor'],
  example: { response: { data: [exampleMember], has_more: false, next_cursor: null } },
  async run(call) {
    const { platform, principal } = call
    const { account_id, user_id } = requireUser(principal)
    return listPage(call, {
      list: { list: 'members', account_id },
      read: ({ limit, after }) => platform.store.accounts.usersOf(account_id, { limit, after }),
      cursorOf: idOf,
      show: () => (member) => toWireMember(member, member.id === user_id),
    })
  },
})

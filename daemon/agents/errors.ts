import { defineErrors } from '../../lib/errors.ts'

/** Refusals of the interfaces for agents, besides those of the operations. */
export const agentError = defineErrors({
  app_required: {
    status: 400,
    text: 'Name the app by its app_id: several could be meant.',
  },
  unknown_tool: {
    status: 404,
    text: 'There is no tool of this name among the chosen ones. Choose its toolset in the address.',
  },
  result_too_large: {
    status: 413,
    text: 'The result is larger than 64 KiB. Read it in parts, or ask for less of it.',
  },
})

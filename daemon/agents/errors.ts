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
  unknown_operation: {
    status: 404,
    text: 'This tool calls no operation of this name.',
  },
  unknown_prompt: {
    status: 404,
    text: 'There is no prompt of this name for this key.',
  },
  result_too_large: {
    status: 413,
    text: 'The result is larger than 64 KiB.',
  },
  result_changed: {
    status: 409,
    text: 'The result is another one than when its first part was read.',
  },
})

import { operation } from '../../../operations/operation.ts'
import { appError, errorParams, exampleError, toWireError } from '../error-schema.ts'
import { findErrorGroup } from '../service.ts'

export const getAppError = operation({
  effect: 'read',
  id: 'observe.get_error',
  summary: "Read an error of an app's pages",
  method: 'GET',
  path: '/v1/apps/{app_id}/errors/{error_id}',
  access: { scope: 'observe:read', pinned: 'allowed' },
  emits: ['observe'],
  input: { params: errorParams },
  output: appError,
  errors: ['app_not_found', 'error_not_found'],
  example: {
    params: { app_id: exampleError.app_id, error_id: exampleError.id },
    response: exampleError,
  },
  command: 'app error',
  async run(call) {
    return toWireError(await findErrorGroup(call.platform.store, call))
  },
})

import * as sdk from '@a2a-js/sdk/errors'
import t from 'tap'
import { printError } from '../../daemon/a2a/errors.ts'
import type { ProtocolReason } from '../../daemon/a2a/protocol-errors.ts'
import { PROTOCOL_ERRORS, ProtocolError } from '../../daemon/a2a/protocol-errors.ts'

const CONTEXT = { baseUrl: 'http://127.0.0.1:8787', requestId: 'r' }

const OF_SDK: Readonly<Record<ProtocolReason, new (message?: string) => sdk.A2AError>> = {
  TASK_NOT_FOUND: sdk.TaskNotFoundError,
  TASK_NOT_CANCELABLE: sdk.TaskNotCancelableError,
  UNSUPPORTED_OPERATION: sdk.UnsupportedOperationError,
  CONTENT_TYPE_NOT_SUPPORTED: sdk.ContentTypeNotSupportedError,
  VERSION_NOT_SUPPORTED: sdk.VersionNotSupportedError,
}

await t.test('errors of the protocol are printed as the SDK of the protocol prints them', (t) => {
  for (const reason of Object.keys(PROTOCOL_ERRORS) as ProtocolReason[]) {
    for (const message of [undefined, 'A message of our own.']) {
      const theirs = new OF_SDK[reason](message)
      const ours = printError(new ProtocolError(reason, message), CONTEXT)
      const { code, message: text, data = [] } = sdk.toJsonRpcError(theirs)
      t.same(
        { ...ours, http: 0, status: '' },
        {
          rpc: code,
          http: 0,
          status: '',
          message: text,
          details: data,
          retryAfter: undefined,
        },
      )
      const http = sdk.restStatusFor(theirs)
      const rest = sdk.toRestErrorBody(theirs, http).error
      t.same([ours.http, ours.status], [http, rest.status], reason)
    }
  }
  t.end()
})

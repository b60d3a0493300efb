import type { KeyhookError } from '../../lib/errors.ts'
import { defineErrors } from '../../lib/errors.ts'
import { PATH_FAULTS } from './path.ts'
import type { OperationRefusal } from './apply.ts'

/** Errors of operations on trees; they belong to the apps family. */
export const treeError = defineErrors({
  path_not_allowed: {
    status: 400,
    text: 'A file of an app cannot have this path. Choose another.',
  },
  patch_not_applied: {
    status: 400,
    text: 'An operation does not apply to the files of its base revision. Read them and send a new one.',
  },
  config_not_allowed: {
    status: 400,
    text: 'The configuration has a key or value that an app cannot have.',
  },
  app_too_large: { status: 400, text: 'The app would exceed the limits of an app.' },
})

type Code = keyof typeof treeError.rows

/** Error code of each fault of an operation. Default: `patch_not_applied`. */
const CODES: Readonly<Record<string, Code>> = {
  ...Object.fromEntries(Object.keys(PATH_FAULTS).map((fault) => [fault, 'path_not_allowed'])),
  path_collision: 'path_not_allowed',
  path_is_folder: 'path_not_allowed',
  config_key: 'config_not_allowed',
  config_value: 'config_not_allowed',
  config_observe: 'config_not_allowed',
  too_much_config: 'app_too_large',
  too_many_files: 'app_too_large',
  too_large: 'app_too_large',
  too_much_work: 'app_too_large',
}

/** One error for all refusals, with the code of the first. */
export function toRefusal(refusals: readonly OperationRefusal[], location: string): KeyhookError {
  const code = CODES[refusals[0]?.code ?? ''] ?? 'patch_not_applied'
  return treeError(code, {
    errors: refusals.map(({ index, code, path, message }) => ({
      location: index === null ? location : `${location}[${index}]`,
      code,
      message: index === null && path !== '' ? `${path}: ${message}` : message,
    })),
  })
}

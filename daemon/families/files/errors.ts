import { defineErrors } from '../../../lib/errors.ts'
import { fileError } from '../../../plugins/files/contract.ts'

const { wrong_type, empty_file } = fileError.rows

/** What stands against requests; why the processing of a file failed is told by its record. */
export const knowledgeError = defineErrors({
  file_not_found: { status: 404, text: 'The app has no file with this id.' },
  file_not_failed: { status: 409, text: 'Only a failed file can be processed again.' },
  file_limit_reached: {
    status: 409,
    text: 'The app has reached its limit of 1,000 files or 1 GiB. Delete some first.',
  },
  file_too_large: { status: 413, text: 'A file is at most 25 MiB. Split it.' },
  invalid_file_name: {
    status: 400,
    text: 'A file needs a name of at most 255 bytes, without control characters.',
  },
  wrong_type,
  empty_file,
})

import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { knowledgeError } from './errors.ts'
import { fileEvents } from './events.ts'
import { deleteFile } from './operations/delete.ts'
import { getFileContent } from './operations/get-content.ts'
import { getFile, listFiles } from './operations/read.ts'
import { retryFile } from './operations/retry.ts'
import { searchFiles } from './operations/search.ts'
import { uploadFiles } from './operations/upload.ts'
import { createFileHandler } from './process.ts'

/** The knowledge of apps: files whose text is found by search, and given to whoever edits. */
export const filesFamily = defineFamily({
  name: 'files',
  needs: [appsFamily],
  scopes: { files: ['read', 'write'] },
  events: fileEvents.types,
  errors: knowledgeError,
  operations: [listFiles, uploadFiles, searchFiles, getFile, deleteFile, retryFile, getFileContent],
  jobs: [{ createHandler: createFileHandler }],
})

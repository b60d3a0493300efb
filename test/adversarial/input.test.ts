import t from 'tap'
import { DOCUMENT_CHECKS } from './input/document.ts'
import { ERROR_CHECKS } from './input/errors.ts'
import { FILE_CHECKS } from './input/files.ts'
import { UNICODE_CHECKS } from './input/unicode.ts'
import { INPUT } from './rows/input.ts'
import { runSection } from './run.ts'

await runSection(t, INPUT, {
  ...ERROR_CHECKS,
  ...UNICODE_CHECKS,
  ...DOCUMENT_CHECKS,
  ...FILE_CHECKS,
})

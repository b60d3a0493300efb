import { ATTEMPT_ROWS } from './rows/attempts.ts'
import { ARGUMENTS } from './rows/arguments.ts'
import { AUTHORITY } from './rows/authority.ts'
import { BILLING } from './rows/billing.ts'
import { FAIRNESS } from './rows/fairness.ts'
import { HOSTING } from './rows/hosting.ts'
import { INPUT } from './rows/input.ts'
import { KNOWLEDGE } from './rows/knowledge.ts'
import { LIMITS } from './rows/limits.ts'
import { OPERATIONS } from './rows/operations.ts'
import { OPERATORS } from './rows/operators.ts'
import { OUTCOMES } from './rows/outcomes.ts'
import { PROTOCOLS } from './rows/protocols.ts'
import { RESPONSES } from './rows/responses.ts'
import { KEY_ROWS } from './rows/keys.ts'
import { SIGNATURE_ROWS } from './rows/signatures.ts'
import { TARGET_ROWS } from './rows/targets.ts'

/** One thing that an attacker, or a fault at the worst moment, tries. */
export type Row = AnsweredRow | OmittedRow

export interface AnsweredRow {
  readonly id: string
  readonly case: string
  /** What this design answers. The texts in backticks, except scopes, are all outcomes that the case may have. */
  readonly answer: string
}

export interface OmittedRow {
  readonly id: string
  readonly case: string
  /** Why it is not run, for a stranger to judge. */
  readonly omitted: string
}

/** Rows of one kind, whose ids are its letter and the numbers from 01 to its size. */
export interface Section {
  readonly letter: string
  readonly title: string
  readonly size: number
  readonly rows: readonly Row[]
}

export const KEYS: Section = { letter: 'K', title: 'Keys', size: 59, rows: KEY_ROWS }
export const TARGETS: Section = {
  letter: 'S',
  title: 'Targets, judged by their text and their addresses',
  size: 80,
  rows: TARGET_ROWS,
}
export const ATTEMPTS: Section = {
  letter: 'D',
  title: 'Targets that change, receivers that lead elsewhere',
  size: 16,
  rows: ATTEMPT_ROWS,
}
export const SIGNATURES: Section = {
  letter: 'V',
  title: 'Signatures',
  size: 27,
  rows: SIGNATURE_ROWS,
}

export const SECTIONS: readonly Section[] = [
  KEYS,
  TARGETS,
  ATTEMPTS,
  SIGNATURES,
  RESPONSES,
  FAIRNESS,
  INPUT,
  AUTHORITY,
  HOSTING,
  ARGUMENTS,
  OUTCOMES,
  OPERATORS,
  OPERATIONS,
  PROTOCOLS,
  LIMITS,
  KNOWLEDGE,
  BILLING,
]

/** The ids that a section must have, each once. */
export function idsOf({ letter, size }: Section): readonly string[] {
  return Array.from({ length: size }, (_, at) => letter + String(at + 1).padStart(2, '0'))
}

export function isOmitted(row: Row): row is OmittedRow {
  return 'omitted' in row
}

/**
 * The page docs/security-cases.md: one heading per section. Columns are not aligned.
 *
 * @example
 * printPage().startsWith('# Security cases') // true
 */
export function printPage(): string {
  const sections = SECTIONS.filter(({ rows }) => rows.length > 0)
  return [INTRODUCTION, ...sections.map(printSection)].join('\n\n')
}

const INTRODUCTION = `# Security cases

Every row is a named test in \`test/adversarial\`, those of fairness in \`test/soak\`; the test sees each outcome in
backticks, and no other. A row that is not run says why.`

function printSection({ title, rows }: Section): string {
  const lines = rows.map((row) => {
    const answer = isOmitted(row) ? `Omitted: ${row.omitted}` : row.answer
    return `| ${row.id} | ${row.case} | ${answer} |`
  })
  return [`## ${title}`, '', '| id | case | answer |', '| - | - | - |', ...lines].join('\n')
}

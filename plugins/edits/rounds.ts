import { AnswerParser, type Block, type Problem } from './answer/parse.ts'
import { pathsOf, resolveBlocks } from './answer/resolve.ts'
import { EditError, type EditOperation, type EditStage, type EditTools } from './contract.ts'
import { askRepair, type Message } from './prompt/messages.ts'

/** Gives the model's answer as it comes, and all of it in the end. */
export type AskModel = (
  messages: readonly Message[],
  onText: (text: string) => void,
) => Promise<string>

export interface RoundsOutcome {
  readonly operations: readonly EditOperation[]
  readonly summary: string | undefined
  readonly repaired: boolean
}

/** The first answer, one repair of what did not fit, and that whole if it still does not. */
const STAGES: readonly EditStage[] = ['asking', 'repairing', 'repairing']
const MOST_OPERATIONS = 500
const MOST_SHOWN = 200

/**
 * Asks until every operation can be applied. What could be is kept; of the rest the model is shown how
 * the files really are.
 *
 * @throws EditError `patch_not_applied`, `model_answer_invalid` or `answer_too_large`
 */
export async function carryOutInRounds(
  first: readonly Message[],
  ask: AskModel,
  tools: Pick<EditTools, 'read' | 'check' | 'progress'>,
): Promise<RoundsOutcome> {
  let messages = first
  let kept: readonly Block[] = []
  let owed: readonly string[] = []
  let problems: readonly Problem[] = []
  let summary: string | undefined
  for (const [round, stage] of STAGES.entries()) {
    const { text, answer } = await askRound(messages, ask, stage, tools.progress)
    summary ??= answer.summary
    const done = new Set(kept.flatMap(pathsOf))
    const added = answer.blocks.filter((block) => !pathsOf(block).some((path) => done.has(path)))
    const blocks = [...kept, ...added]
    if (blocks.length > MOST_OPERATIONS) throw new EditError('answer_too_large')
    const broken = [
      ...answer.problems.filter(({ path }) => !done.has(path ?? '')),
      ...left(owed, added),
    ]
    const judged = await judge(blocks, broken, tools)
    problems = judged.problems
    if (problems.length === 0)
      return { operations: judged.operations, summary, repaired: round > 0 }
    const bad = badPaths(blocks, problems)
    kept =
      bad === undefined
        ? []
        : blocks.filter((block) => !pathsOf(block).some((path) => bad.has(path)))
    owed = problems.flatMap(({ path, isOwed }) => (path !== undefined && isOwed ? [path] : []))
    const isLast = round + 2 === STAGES.length
    messages = [
      ...messages,
      { role: 'assistant', content: text },
      { role: 'user', content: askRepair(problems, isLast) },
    ]
  }
  const isAboutFiles = problems.every(({ path }) => path !== undefined)
  const internal = [...new Set(problems.map(({ code }) => code))].join(', ')
  throw new EditError(isAboutFiles ? 'patch_not_applied' : 'model_answer_invalid', { internal })
}

async function askRound(
  messages: readonly Message[],
  ask: AskModel,
  stage: EditStage,
  progress: EditTools['progress'],
): Promise<{ readonly text: string; readonly answer: ReturnType<AnswerParser['end']> }> {
  let done = 0
  progress({ stage, done, total: null })
  const parser = new AnswerParser((path) => {
    done += 1
    progress({ stage, done, total: null, message: path.slice(0, MOST_SHOWN) })
  })
  const text = await ask(messages, (part) => parser.push(part))
  return { text, answer: parser.end() }
}

/** What of the blocks can be applied; the core is asked only when nothing else stands against them. */
async function judge(
  blocks: readonly Block[],
  broken: readonly Problem[],
  tools: Pick<EditTools, 'read' | 'check'>,
): Promise<{
  readonly operations: readonly EditOperation[]
  readonly problems: readonly Problem[]
}> {
  const resolved = await resolveBlocks(blocks, tools.read)
  const problems = [...broken, ...resolved.problems]
  if (problems.length > 0) return { operations: [], problems }
  if (blocks.length === 0) return { operations: [], problems: [NOTHING] }
  const faults = await tools.check(resolved.operations)
  return {
    operations: resolved.operations,
    problems: faults.map(({ index, code, message }) => {
      const block = resolved.blocks[index]
      return { path: block && pathsOf(block)[0], code, message, isOwed: false }
    }),
  }
}

const NOTHING: Problem = {
  path: undefined,
  code: 'no_operations',
  message: 'It changes nothing.',
  isOwed: false,
}

/** What a repair was to answer for and did not. */
function left(owed: readonly string[], added: readonly Block[]): readonly Problem[] {
  const answered = new Set(added.flatMap(pathsOf))
  return owed
    .filter((path) => !answered.has(path))
    .map((path) => ({
      path,
      code: 'not_answered',
      message: 'The repair says nothing about it.',
      isOwed: true,
    }))
}

/** The paths of the problems, and all that a rename or another block ties to them; undefined for all. */
function badPaths(
  blocks: readonly Block[],
  problems: readonly Problem[],
): ReadonlySet<string> | undefined {
  const bad = new Set<string>()
  for (const { path } of problems) {
    if (path === undefined) return undefined
    bad.add(path)
  }
  for (let before = -1; before !== bad.size;) {
    before = bad.size
    for (const block of blocks) {
      const paths = pathsOf(block)
      if (paths.some((path) => bad.has(path))) for (const path of paths) bad.add(path)
    }
  }
  return bad
}

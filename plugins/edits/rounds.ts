import { AnswerParser, type Block, type Problem } from './answer/parse.ts'
import { pathsOf, resolveBlocks } from './answer/resolve.ts'
import { EditError, type EditOperation, type EditStage, type EditTools } from './contract.ts'
import { writeRepair, type Message } from './prompt/messages.ts'

/** Passes the model's answer on as it arrives, and returns all of it. */
export type PromptModel = (
  messages: readonly Message[],
  onText: (text: string) => void,
) => Promise<string>

export interface RoundsOutcome {
  readonly operations: readonly EditOperation[]
  readonly summary: string | undefined
  readonly repaired: boolean
}

/** The first answer, one repair of what could not be applied, then whole files for what still cannot. */
const STAGES: readonly EditStage[] = ['asking', 'repairing', 'repairing']
const MAX_OPERATIONS = 500
const MAX_SHOWN = 200

/**
 * Prompts the model until every operation can be applied. Operations that can be applied are kept; for the
 * rest the model is shown the files as they are.
 *
 * @throws EditError `patch_not_applied`, `model_answer_invalid` or `answer_too_large`
 */
export async function runRounds(
  first: readonly Message[],
  prompt: PromptModel,
  tools: Pick<EditTools, 'read' | 'check' | 'progress'>,
): Promise<RoundsOutcome> {
  let messages = first
  let kept: readonly Block[] = []
  let pending: readonly string[] = []
  let problems: readonly Problem[] = []
  let summary: string | undefined
  for (const [round, stage] of STAGES.entries()) {
    const { text, answer } = await runRound(messages, prompt, stage, tools.progress)
    summary ??= answer.summary
    const done = new Set(kept.flatMap(pathsOf))
    const added = answer.blocks.filter((block) => !pathsOf(block).some((path) => done.has(path)))
    const blocks = [...kept, ...added]
    if (blocks.length > MAX_OPERATIONS) throw new EditError('answer_too_large')
    const broken = [
      ...answer.problems.filter(({ path }) => !done.has(path ?? '')),
      ...missing(pending, added),
    ]
    const checked = await check(blocks, broken, tools)
    problems = checked.problems
    if (problems.length === 0)
      return { operations: checked.operations, summary, repaired: round > 0 }
    const bad = badPaths(blocks, problems)
    kept =
      bad === undefined
        ? []
        : blocks.filter((block) => !pathsOf(block).some((path) => bad.has(path)))
    pending = problems.flatMap(({ path, mustRepair }) =>
      path !== undefined && mustRepair ? [path] : [],
    )
    const isLast = round + 2 === STAGES.length
    messages = [
      ...messages,
      { role: 'assistant', content: text },
      { role: 'user', content: writeRepair(problems, isLast) },
    ]
  }
  const isAboutFiles = problems.every(({ path }) => path !== undefined)
  const internal = [...new Set(problems.map(({ code }) => code))].join(', ')
  throw new EditError(isAboutFiles ? 'patch_not_applied' : 'model_answer_invalid', { internal })
}

async function runRound(
  messages: readonly Message[],
  prompt: PromptModel,
  stage: EditStage,
  progress: EditTools['progress'],
): Promise<{ readonly text: string; readonly answer: ReturnType<AnswerParser['end']> }> {
  let done = 0
  progress({ stage, done, total: null })
  const parser = new AnswerParser((path) => {
    done += 1
    progress({ stage, done, total: null, message: path.slice(0, MAX_SHOWN) })
  })
  const text = await prompt(messages, (part) => parser.push(part))
  return { text, answer: parser.end() }
}

/** Resolves the blocks, and checks the operations once nothing else is wrong with them. */
async function check(
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
      return { path: block && pathsOf(block)[0], code, message, mustRepair: false }
    }),
  }
}

const NOTHING: Problem = {
  path: undefined,
  code: 'no_operations',
  message: 'It changes nothing.',
  mustRepair: false,
}

/** The paths that a repair had to cover and did not. */
function missing(paths: readonly string[], added: readonly Block[]): readonly Problem[] {
  const answered = new Set(added.flatMap(pathsOf))
  return paths
    .filter((path) => !answered.has(path))
    .map((path) => ({
      path,
      code: 'not_answered',
      message: 'The repair says nothing about it.',
      mustRepair: true,
    }))
}

/** The paths with problems, and those that a rename or another block ties to them; undefined for all. */
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

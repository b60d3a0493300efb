import { fenceFor } from '../answer/lines.ts'
import type { Problem } from '../answer/parse.ts'

/** Asks once more for what could not be used, and for nothing else. */
export function askRepair(problems: readonly Problem[], isLast: boolean): string {
  const paths = [...new Set(problems.flatMap(({ path }) => (path === undefined ? [] : [path])))]
  const isAll = problems.some(({ path }) => path === undefined)
  const faults = problems.map(({ path, message, excerpt }) => {
    const about = path === undefined ? '' : `${JSON.stringify(path)}: `
    return excerpt === undefined ? `- ${about}${message}` : `- ${about}${message}${show(excerpt)}`
  })
  const names = paths.map((path) => JSON.stringify(path)).join(', ')
  return [
    'Your answer could not be used as it is:',
    ...faults,
    isAll
      ? 'Answer again, all of it, in the form described at the beginning.'
      : `Everything else is kept. Answer again for these files alone, as they were before your answer: ${names}.`,
    ...(isLast && !isAll ? ['Write each of them whole with FILE, and leave nothing out.'] : []),
  ].join('\n')
}

function show(excerpt: string): string {
  const fence = fenceFor(excerpt)
  return ` Where it may have been meant, the file says:\n${fence}\n${excerpt}\n${fence}`
}

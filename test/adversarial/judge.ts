import type { EgressPolicy, RefusalReason } from '../../lib/egress/url.ts'
import { judgeAnswers, judgeUrl, parseAllowList } from '../../lib/egress/url.ts'

/** Every public target, by https and http. */
export const OPEN: EgressPolicy = { schemes: ['https', 'http'], allow: parseAllowList('') }

/** What a send decides before it connects: the url, then every answer of its name. */
export function judge(
  text: string,
  answers: readonly string[],
  policy: EgressPolicy = OPEN,
): 'accepted' | RefusalReason {
  const verdict = judgeUrl(text, policy)
  if (!verdict.ok) return verdict.reason
  if (verdict.url.literal) return 'accepted'
  const judged = judgeAnswers(answers, verdict.url, policy)
  return judged.ok ? 'accepted' : judged.reason
}

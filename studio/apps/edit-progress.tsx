import type { Edit, EditState } from '../api/client.ts'
import { useFollowed } from '../api/follow.ts'
import { Progress } from '../parts/progress.tsx'

/** An edit under way, as its stream tells it: its position in the queue, its stage, and its log. */
export function EditProgress({ of: edit }: { readonly of: Edit }) {
  const path = `/v1/apps/${edit.app_id}/edits/${edit.id}/events`
  const { lines, state } = useFollowed<EditState>(path)
  const position = state?.queue_position ?? edit.queue_position
  const last = lines.at(-1)?.message
  const words =
    position !== null
      ? `Number ${position} in the queue of this app.`
      : (last ?? 'It begins in a moment.')
  return <Progress label="Progress of the edit" words={words} {...state?.progress} />
}

import { ReceiverCode } from '../receivers/code.tsx'
import { WebhookFrame } from './frame.tsx'

/** Code of a receiver for this webhook. */
export function Page() {
  return <WebhookFrame>{(webhook) => <ReceiverCode of={webhook} />}</WebhookFrame>
}

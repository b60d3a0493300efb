import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Icon } from './icon.tsx'

/** The address of what is shown, for whoever may sign in to the account. */
export function CopyLink({ what }: { readonly what: string }) {
  const { copy, copied } = useClipboard({ timeout: 2000 })
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name={copied ? 'done' : 'copy'} />}
      onClick={() => copy(location.href)}
    >
      {copied ? 'Link copied' : `Copy link to this ${what}`}
    </Button>
  )
}

import { useReach } from '../shell/reach.ts'
import { Copyable } from './copyable.tsx'
import { quote } from './shell.ts'

/** What the form sends, as a request and as a command: whatever Studio can do, the API can do. */
export function SameRequest({
  method,
  path,
  body,
  command,
}: {
  readonly method: string
  readonly path: string
  readonly body: object
  readonly command: string
}) {
  const { isStudio } = useReach()
  // A customer of somebody else's product has no command line of ours, nor, maybe, a way to this address.
  if (!isStudio) return null
  const address = new URL(`..${path}`, document.baseURI).href
  const curl = `curl -X ${method} ${address} -H "Authorization: Bearer $KEYHOOK_KEY" -H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`
  return (
    <details className="same">
      <summary>The same with curl or the command line</summary>
      <p>
        <Copyable what="request" text={curl} />
      </p>
      <p>
        <Copyable what="command" text={command} />
      </p>
    </details>
  )
}

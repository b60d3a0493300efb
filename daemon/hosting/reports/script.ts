/** Maximum reports of a page until it is loaded again. */
const MOST = 10

/**
 * The script of observed pages, `<script src="/_p/obs.js"></script>`. It gathers the errors of the page for
 * a second, or until the page is left, and sends them to the page's origin, whatever its `<base>`. Loaded
 * twice, it runs once.
 *
 * @param release deployment of the page, which each report names
 */
export function scriptOf(release: string | null): string {
  return `(function () {
  if (globalThis.__obs) return
  Object.defineProperty(globalThis, '__obs', { value: true })
  var release = ${JSON.stringify(release)}
  var left = ${MOST}
  var waiting = []
  var timer
  function send() {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0 || !navigator.sendBeacon) return
    navigator.sendBeacon(location.origin + '/_p/beacon', JSON.stringify({ release: release, reports: waiting }))
    waiting = []
  }
  function tell(type, message, cause) {
    if (left === 0) return
    left -= 1
    var stack = cause && cause.stack
    waiting.push({
      type: type,
      message: String(message).slice(0, 1000),
      stack: stack ? String(stack).slice(0, 4000) : null,
      url: location.origin + location.pathname,
    })
    timer = timer || setTimeout(send, 1000)
  }
  addEventListener('error', function (event) {
    tell('error', event.message, event.error)
  })
  addEventListener('unhandledrejection', function (event) {
    var reason = event.reason
    tell('unhandledrejection', (reason && reason.message) || reason, reason)
  })
  addEventListener('pagehide', send)
  document.addEventListener('visibilitychange', function () {
    if (document.visibilityState === 'hidden') send()
  })
})()
`
}

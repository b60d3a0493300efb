/**
 * The page behind the setup link. Its files are texts of this module, so that the single-file program
 * serves them too; the page loads nothing from another host and has no inline script or style.
 *
 * @module
 */

import type { Step } from '../http/state.ts'

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Set up Keyhook</title>
    <link rel="stylesheet" href="setup/setup.css">
    <script type="module" src="setup/setup.js"></script>
  </head>
  <body>
    <main>
      <h1>Set up Keyhook</h1>
      <p id="status" role="status">Create the first user. The setup link works once.</p>
      <noscript><p>This page needs JavaScript.</p></noscript>
      <p id="problem" role="alert" tabindex="-1"></p>
      <form id="setup" method="post">
        <label for="email">Email address</label>
        <input id="email" name="email" type="email" autocomplete="username" maxlength="254" required>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="new-password"
          minlength="12" maxlength="128" aria-describedby="password-rule" required>
        <p id="password-rule" class="rule">12 to 128 characters.</p>
        <button id="create">Create user</button>
      </form>
      <section id="done" hidden>
        <p><a class="next" href="../studio">Open Studio</a></p>
        <p>Or create a developer key on the machine that runs the daemon:</p>
        <pre><code>keyhook key create --name first --scopes '*:*'</code></pre>
      </section>
    </main>
  </body>
</html>
`

const CSS = `:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e6e8eb);
  --quiet: light-dark(#57606a, #9aa4af);
  --page: light-dark(#ffffff, #15181c);
  --line: light-dark(#8c959f, #6e7781);
  --accent: light-dark(#0a58ca, #7ab4ff);
  --on-accent: light-dark(#ffffff, #10141a);
  --problem: light-dark(#b3261e, #ff8a80);
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none;
}
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
main {
  max-width: 26rem;
  margin: 12vh auto 2rem;
  padding: 0 1.25rem;
}
h1 {
  font-size: 1.5rem;
}
label {
  display: block;
  margin-top: 1rem;
  font-weight: 600;
}
input,
button {
  width: 100%;
  min-height: 2.75rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--page);
  color: inherit;
  font: inherit;
}
button {
  margin-top: 1.25rem;
  border-color: transparent;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  cursor: pointer;
}
.next {
  display: block;
  padding: 0.5rem 0.75rem;
  border-radius: 0.375rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
}
button:disabled {
  cursor: progress;
  opacity: 0.7;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
.rule {
  margin: 0.25rem 0 0;
  color: var(--quiet);
}
[role='alert'] {
  color: var(--problem);
}
[role='alert']:empty {
  display: none;
}
pre {
  padding: 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  overflow-x: auto;
}
`

const JS = `const token = new URLSearchParams(location.hash.slice(1)).get('token')
const form = document.getElementById('setup')
const button = document.getElementById('create')
const problem = document.getElementById('problem')

function tell(text) {
  problem.textContent = text
  if (text !== '') problem.focus()
}

async function setUp() {
  const { email, password } = form.elements
  const response = await fetch('../v1/setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, email: email.value, password: password.value }),
  })
  const answer = await response.json()
  if (response.ok) return
  const faults = answer.error.errors.map(({ message }) => message)
  throw new Error([answer.error.message, ...faults].join(' '))
}

function finish() {
  // The link is used up; the history need not keep it.
  history.replaceState(null, '', location.pathname)
  form.hidden = true
  document.getElementById('done').hidden = false
  document.getElementById('status').textContent = 'The user is created, and you are signed in.'
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  tell('')
  button.disabled = true
  try {
    await setUp()
    finish()
  } catch (error) {
    tell(error.message)
  } finally {
    button.disabled = false
  }
})

if (token === null) {
  form.hidden = true
  tell('This is not a setup link. Open the one that the daemon printed at its start, as a whole.')
}
`

export interface PageFile {
  /** Value of Koa's `ctx.type`. */
  readonly type: 'html' | 'css' | 'js'
  readonly text: string
}

/** The page's files by path. */
export const SETUP_PAGE: ReadonlyMap<string, PageFile> = new Map<string, PageFile>([
  ['/studio/setup', { type: 'html', text: HTML }],
  ['/studio/setup/setup.css', { type: 'css', text: CSS }],
  ['/studio/setup/setup.js', { type: 'js', text: JS }],
])

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const

/**
 * Serves the setup page and its files from memory, by exact path; other requests continue.
 *
 * @example
 * app.use(servePages())
 */
export function servePages(): Step {
  return function servePages(ctx, next) {
    const file = SETUP_PAGE.get(ctx.path)
    if (file === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    ctx.set(HEADERS)
    ctx.type = file.type
    ctx.body = file.text
    return undefined
  }
}

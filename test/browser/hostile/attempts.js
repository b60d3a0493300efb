// What a page of an app may try. Each attempt is told where the service and another app are, and says what it got.

const WITH_COOKIES = { credentials: 'include' }
const UNSEEN = { ...WITH_COOKIES, mode: 'no-cors' }
const APP = JSON.stringify({ template_id: 'blank', alias: 'planted' })

const print = async (response) => `${response.type} ${response.status} ${await response.text()}`

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** A form that is sent without asking anybody, as text or as parts. */
function sendForm(action, enctype, name, value) {
  const form = document.createElement('form')
  Object.assign(form, { action, enctype, method: 'post', target: '_blank' })
  const field = document.createElement('input')
  Object.assign(field, { type: 'hidden', name, value })
  form.append(field)
  document.body.append(form)
  form.submit()
  return 'sent'
}

async function frame(src) {
  const element = document.createElement('iframe')
  element.src = src
  const loaded = new Promise((resolve) => element.addEventListener('load', resolve))
  document.body.append(element)
  await loaded
  return element.contentDocument === null
    ? 'nothing'
    : element.contentDocument.documentElement.outerHTML
}

/** What is left of a hold on a window some time after the page that it was opened for has come. */
async function openWindow(address) {
  const opened = open(address)
  const isForeign = () => {
    try {
      return opened.document === null
    } catch {
      return true
    }
  }
  await until(isForeign)
  const patience = Date.now() + 2000
  await until(() => opened.closed || Date.now() > patience)
  return opened.closed ? 'nothing' : 'a hold'
}

async function listen(source) {
  const types = ['open', 'message', 'error']
  const first = await Promise.race(
    types.map(
      (type) => new Promise((resolve) => source.addEventListener(type, () => resolve(type))),
    ),
  )
  source.close()
  return first
}

const attempts = {
  read: async ({ api }) => print(await fetch(`${api}/v1/apps`, WITH_COOKIES)),
  readUnseen: async ({ api }) => print(await fetch(`${api}/v1/apps`, UNSEEN)),
  readWithKey: async ({ api, key }) =>
    print(await fetch(`${api}/v1/apps`, { headers: { authorization: `Bearer ${key}` } })),
  readAsScript: ({ api }) =>
    new Promise((resolve) => {
      const script = document.createElement('script')
      script.src = `${api}/v1/apps`
      script.addEventListener('load', () => resolve('run'))
      script.addEventListener('error', () => resolve('not run'))
      document.head.append(script)
    }),
  follow: ({ api, neighbourId }) =>
    listen(new EventSource(`${api}/v1/apps/${neighbourId}/logs/follow`, { withCredentials: true })),
  connect: ({ api }) => listen(new WebSocket(`${api.replace('http', 'ws')}/v1/apps`)),

  create: async ({ api }) =>
    print(
      await fetch(`${api}/v1/apps`, {
        ...WITH_COOKIES,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: APP,
      }),
    ),
  createUnseen: async ({ api }) =>
    print(await fetch(`${api}/v1/apps`, { ...UNSEEN, method: 'POST', body: APP })),
  createByBeacon: ({ api }) => (navigator.sendBeacon(`${api}/v1/apps`, APP) ? 'sent' : 'not sent'),
  createByForm: ({ api }) =>
    sendForm(
      `${api}/v1/apps`,
      'text/plain',
      '{"template_id":"blank","alias":"planted","name":"',
      '"}',
    ),
  upload: async ({ api, neighbourId }) => {
    const body = new FormData()
    body.append('file', new File(['planted'], 'planted.txt', { type: 'text/plain' }))
    const init = { ...UNSEEN, method: 'POST', body }
    return print(await fetch(`${api}/v1/apps/${neighbourId}/files`, init))
  },
  unpublish: async ({ api, neighbourId }) =>
    print(
      await fetch(`${api}/v1/apps/${neighbourId}/deploy/unpublish`, { ...UNSEEN, method: 'POST' }),
    ),
  archive: async ({ api, neighbourId }) =>
    print(await fetch(`${api}/v1/apps/${neighbourId}`, { ...WITH_COOKIES, method: 'DELETE' })),
  signIn: ({ api }) => sendForm(`${api}/v1/session`, 'text/plain', '{"email":"', '"}'),
  signOut: async ({ api }) =>
    print(await fetch(`${api}/v1/session`, { ...WITH_COOKIES, method: 'DELETE' })),

  readCookies: () => document.cookie,
  setCookies: async ({ hosts }) => {
    for (const host of hosts) {
      document.cookie = `planted=1; path=/; domain=${host}`
      await cookieStore.set({ name: 'planted', value: '1', domain: host }).catch(() => undefined)
    }
    return document.cookie
  },
  widen: ({ hosts }) => {
    try {
      document.domain = hosts.at(-1)
    } catch {
      // Browsers refuse it, or pass over it.
    }
    return document.domain === location.hostname ? 'its own name' : document.domain
  },
  readStorage: async () => {
    const databases = await indexedDB.databases()
    return JSON.stringify([Object.entries(localStorage), databases, await caches.keys()])
  },

  frameApi: ({ api }) => frame(`${api}/studio/setup`),
  frameReference: ({ api }) => frame(`${api}/docs`),
  frameAnswer: ({ api }) => frame(`${api}/v1/apps`),
  frameNeighbour: ({ neighbour }) => frame(neighbour),
  openApi: ({ api }) => openWindow(`${api}/studio/setup`),
  openReference: ({ api }) => openWindow(`${api}/docs`),

  registerOfApi: async ({ api }) =>
    (await navigator.serviceWorker.register(`${api}/studio/setup/setup.js`)).scope,
  registerForApi: async ({ api }) =>
    (await navigator.serviceWorker.register('/worker.js', { scope: `${api}/` })).scope,
  registerForNeighbour: async ({ neighbour }) =>
    (await navigator.serviceWorker.register('/worker.js', { scope: `${neighbour}/` })).scope,

  accuse: async ({ neighbour }) => {
    const report = { type: 'error', message: 'Planted', url: `${neighbour}/` }
    const body = JSON.stringify({ release: null, reports: [report] })
    return print(await fetch(`${neighbour}/_p/beacon`, { ...UNSEEN, method: 'POST', body }))
  },
}

/** What an attempt got, or the name of what it ran into. */
globalThis.attempt = async (name, places) => {
  try {
    return await attempts[name](places)
  } catch (error) {
    return error.name
  }
}

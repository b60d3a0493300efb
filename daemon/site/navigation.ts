/** One link of the side bar; the path is that of the page, without `.md`. */
interface Link {
  readonly text: string
  readonly link: string
}

interface Group {
  readonly text: string
  readonly collapsed: boolean
  readonly items: readonly Link[]
}

/** The pages of docs/ by what their reader wants to do. */
const PAGES: Readonly<Record<string, readonly (readonly [text: string, page: string])[]>> = {
  Start: [
    ['Overview', ''],
    ['Start', 'start'],
    ['Concepts', 'concepts'],
  ],
  Embed: [
    ['In Node', 'embed'],
    ['In other languages', 'other-languages'],
    ['A portal for customers', 'portal'],
    ['Test your integration', 'testing'],
    ['Caches of keys', 'key-caches'],
    ['Outbox', 'outbox'],
    ['Other stores', 'stores'],
    ['Packages', 'packages'],
  ],
  Receivers: [
    ['Receive webhooks', 'receivers'],
    ['Node', 'receivers/node'],
    ['Go', 'receivers/go'],
    ['Java', 'receivers/java'],
    ['PHP', 'receivers/php'],
    ['Python', 'receivers/python'],
    ['Ruby', 'receivers/ruby'],
    ['Rust', 'receivers/rust'],
    ['Queues as receivers', 'destinations'],
  ],
  Platform: [
    ['Apps', 'apps'],
    ['Publish', 'publish'],
    ['Agents', 'agents'],
    ['Billing', 'billing'],
    ['Studio', 'studio'],
  ],
  Reference: [
    ['API', 'api'],
    ['API reference', 'reference/'],
    ['Errors', 'errors'],
    ['Events', 'events'],
    ['Configuration', 'config'],
  ],
  Plugins: [
    ['Plugins', 'plugins'],
    ['Families', 'families'],
  ],
  Operate: [
    ['Operate', 'operate'],
    ['Object storage', 'object-storage'],
    ['Security', 'security'],
    ['Reliability', 'reliability'],
    ['Benchmarks', 'benchmarks'],
  ],
  'Change it': [
    ['Architecture', 'architecture'],
    ['Decisions', 'decisions'],
    ['Security cases', 'security-cases'],
    ['Changelog', 'CHANGELOG'],
  ],
}

export const SIDEBAR: readonly Group[] = Object.entries(PAGES).map(([text, pages]) => ({
  text,
  collapsed: false,
  items: pages.map(([name, page]) => ({
    text: name,
    link: `/${page}`,
    // Not a page of the application: it is loaded anew.
    ...(page.endsWith('/') ? { target: '_self' } : {}),
  })),
}))

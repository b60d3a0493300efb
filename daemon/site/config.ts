import type { DefaultTheme, UserConfig } from 'vitepress'
import { SIDEBAR } from './navigation.ts'

/** The configuration of VitePress for the pages of one version, which are served below `base`. */
export function siteConfig(version: string, base: string): UserConfig<DefaultTheme.Config> {
  return {
    base,
    title: 'Keyhook',
    description: 'Developer keys and webhooks for any backend',
    head: [['link', { rel: 'icon', href: `${base}icon.svg` }]],
    // Every page has an address of its own on any host of static files.
    cleanUrls: false,
    metaChunk: true,
    markdown: {
      anchor: { slugify: githubSlug },
      config: ({ renderer, utils }) => {
        // Pages name placeholders such as <file>; only anchors and line breaks are meant as HTML.
        renderer.rules['html_inline'] = (tokens, index) => {
          const { content = '' } = tokens[index] ?? {}
          return /^<\/?(?:a|br)\b/.test(content) ? content : utils.escapeHtml(content)
        }
      },
    },
    themeConfig: {
      nav: [
        { text: 'Start', link: '/start' },
        { text: 'API reference', link: '/reference/', target: '_self' },
        {
          text: version,
          items: [
            { text: 'Changelog', link: '/CHANGELOG' },
            // Above the base: the list is that of the day, not of this build.
            { text: 'All versions', link: '/../', target: '_self' },
          ],
        },
      ],
      sidebar: SIDEBAR.map((group) => ({ ...group, items: [...group.items] })),
      outline: [2, 3],
      search: { provider: 'local' },
    },
  }
}

/** The anchor that GitHub gives to a heading, so that a link works in both places. */
function githubSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

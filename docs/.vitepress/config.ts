import { defineConfig } from 'vitepress'
import { formatAnchor } from '../../scripts/anchor.ts'
import { readPicture, renderImage } from '../../scripts/diagrams.ts'
import { searchOptions } from '../../scripts/search-options.ts'
import { makeSidebar } from './pages.ts'

export default defineConfig({
  lang: 'en',
  title: 'hyperkube',
  description:
    'One program that installs upstream Kubernetes on a list of machines and manages its whole life cycle',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  cleanUrls: true,
  ignoreDeadLinks: false,
  srcExclude: ['node_modules/**'],
  metaChunk: true,
  // The search index and the list of all error codes are larger than Vite's limit of 500 kB. Both load on demand.
  vite: { build: { chunkSizeWarningLimit: 1500 } },
  // Pages with wide tables use the column of the outline too.
  transformPageData({ relativePath, frontmatter }) {
    if (/^evidence\/|^explanation\/comparison/.test(relativePath)) frontmatter['aside'] = false
  },
  markdown: {
    // The same anchors as on GitHub, so that links work in both.
    anchor: { slugify: formatAnchor },
    config(md) {
      // Pages name pictures by their path in the repository; the site serves docs/public at its root.
      md.core.ruler.push('pictures', ({ tokens }) => {
        for (const image of tokens.flatMap(({ children }) => children ?? []))
          if (image.type === 'image')
            image.attrSet('src', (image.attrGet('src') ?? '').replace(/^(?:\.\.?\/)*public\//, '/'))
      })
      // GitHub draws Mermaid blocks; the site shows the picture that the block names.
      const renderFence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index]
        if (token?.info.trim() !== 'mermaid') return renderFence?.(tokens, index, ...rest) ?? ''
        const picture = readPicture(token.content)
        if (picture === undefined) throw new Error(`a Mermaid block names no picture: ${token.content}`)
        return renderImage(picture)
      }
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial/first-cluster' },
      { text: 'Upgrade', link: '/how-to/upgrade' },
      { text: 'Commands', link: '/reference/cli' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'FAQ', link: '/faq' },
    ],
    sidebar: makeSidebar(),
  },
})

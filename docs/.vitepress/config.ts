import { defineConfig } from 'vitepress'
import { makeSidebar } from './pages.ts'

export default defineConfig({
  lang: 'en',
  title: 'hyperkube',
  description:
    'One program that installs upstream Kubernetes on a list of machines and manages its whole life cycle',
  cleanUrls: true,
  ignoreDeadLinks: false,
  srcExclude: ['node_modules/**'],
  metaChunk: true,
  // The search index and the list of all error codes are larger than Vite's limit of 500 kB. Both load on demand.
  vite: { build: { chunkSizeWarningLimit: 1500 } },
  themeConfig: {
    search: { provider: 'local' },
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

import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { searchOptions } from './search-options.ts'

/** Terms that people search for, and the page that must be the first result. */
const terms: Readonly<Record<string, string>> = {
  'high availability': 'explanation/high-availability',
  'load balancer': 'explanation/high-availability',
  'air gap': 'how-to/air-gap',
  'offline installation': 'how-to/air-gap',
  requirements: 'reference/requirements',
  memory: 'reference/requirements',
  ports: 'reference/ports',
  firewall: 'reference/ports',
  rollback: 'how-to/change-settings',
  'certificate authority': 'how-to/rotate-keys',
  'rotate CA': 'how-to/rotate-keys',
  'renew certificates': 'how-to/rotate-keys',
  backup: 'how-to/backup',
  'restore etcd': 'how-to/backup',
  S3: 'how-to/backup',
  'quorum lost': 'how-to/runbook-etcd-quorum-lost',
  upgrade: 'how-to/upgrade',
  uninstall: 'how-to/undo-everything',
  'remove a node': 'how-to/change-hosts',
  drain: 'how-to/change-hosts',
  Windows: 'how-to/windows-workers',
  'RKE1 migration': 'how-to/migrate-rke1',
  'exit codes': 'reference/exit-codes',
  'error codes': 'reference/errors',
  troubleshooting: 'troubleshooting',
  'API down': 'how-to/runbook-api-down',
  'comparison kubeadm': 'explanation/comparison',
  FAQ: 'faq',
  'networking CNI': 'explanation/networking',
  'secrets encryption': 'how-to/rotate-keys',
}

interface SearchIndex {
  search(term: string): { readonly id: string }[]
}

interface MiniSearchClass {
  loadJSON(json: string, options: object): SearchIndex
}

const docs = join(import.meta.dirname, '../docs')
const dist = join(docs, '.vitepress/dist')

/** Loads the index of the built site with the options that the search box of VitePress uses. */
async function loadIndex(): Promise<SearchIndex> {
  const [file] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: dist })
  if (file === undefined) throw new Error('no search index in docs/.vitepress/dist: build the site first')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the build writes this module
  const { default: json } = (await import(pathToFileURL(join(dist, file)).href)) as { default: string }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- minisearch is a dependency of VitePress
  const miniSearch = createRequire(join(docs, 'package.json'))('minisearch') as MiniSearchClass
  return miniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  })
}

/** Lists terms whose first result is on another page than expected. */
function findMisses(index: SearchIndex): string[] {
  return Object.entries(terms).flatMap(([term, page]) => {
    const ids = index.search(term).map(({ id }) => id)
    if (ids[0]?.split('#')[0] === `/${page}`) return []
    const rank = ids.findIndex((id) => id.split('#')[0] === `/${page}`)
    return [`${term}: expected /${page} (result ${rank + 1}), found ${ids.slice(0, 3).join(', ')}`]
  })
}

/** Lists links of the built pages to headings that do not exist. */
function findDeadAnchors(): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: dist }).map((file) => [
      `/${file.replace(/\.html$/, '')}`.replace(/\/index$/, '/'),
      readFileSync(join(dist, file), 'utf8'),
    ]),
  )
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<a href="(?!https?:)([^"]*#[^"]+)"/g)].flatMap(([, href = '']) => {
      const { pathname, hash } = new URL(href, `http://site${page}`)
      const target = pages.get(decodeURIComponent(pathname))
      return target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`) === true
        ? []
        : [`${page}: no heading for ${href}`]
    }),
  )
}

const misses = findMisses(await loadIndex())
const deadAnchors = findDeadAnchors()
for (const line of [...misses, ...new Set(deadAnchors)]) process.stderr.write(`${line}\n`)
const count = Object.keys(terms).length
process.stderr.write(
  `site: search finds the right page first for ${count - misses.length} of ${count} terms, ${deadAnchors.length} dead anchors\n`,
)
process.exitCode = misses.length + deadAnchors.length === 0 ? 0 : 1

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder with all pages of the site. */
export const docs = join(import.meta.dirname, '..')

/** Groups of the sidebar, with their pages in reading order. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  Tutorial: ['tutorial/first-cluster'],
  'How-to': [
    'how-to/install',
    'how-to/change-settings',
    'how-to/change-hosts',
    'how-to/upgrade',
    'how-to/fleet',
    'how-to/management-plane',
    'how-to/update-catalog',
    'how-to/backup',
    'how-to/rotate-keys',
    'how-to/heal',
    'how-to/monitor',
    'how-to/web-interface',
    'how-to/cis',
    'how-to/addons',
    'how-to/sdk',
    'how-to/load-balancer',
    'how-to/air-gap',
    'how-to/corporate-network',
    'how-to/from-rke1',
    'how-to/adopt',
    'how-to/migrate-rke1',
    'how-to/eject',
    'how-to/windows-workers',
    'how-to/keep-the-key',
    'how-to/undo-everything',
    'troubleshooting',
    'how-to/runbook-api-down',
    'how-to/runbook-etcd-quorum-lost',
    'how-to/runbook-node-lost',
  ],
  Reference: [
    'reference/requirements',
    'reference/versions',
    'reference/versioning',
    'reference/ports',
    'reference/files',
    'reference/cluster',
    'reference/fleet',
    'reference/cli',
    'reference/environment',
    'reference/exit-codes',
    'reference/errors',
    'reference/controllers',
    'reference/weakening-settings',
    'reference/sdk',
  ],
  Explanation: [
    'explanation/what-up-does',
    'explanation/high-availability',
    'explanation/networking',
    'explanation/scale',
    'explanation/security',
    'explanation/comparison',
    'faq',
    'windows',
    'explanation/origins',
  ],
  Contributing: [
    'architecture',
    'contributing/vocabulary',
    'contributing/release',
    'how-to/add-a-controller',
    'lab',
    'conformance',
  ],
  Evidence: [
    'evidence/bench',
    'evidence/bench-addons',
    'evidence/where-the-time-goes',
    'evidence/cost-at-rest',
    'evidence/interruptions',
    'evidence/minors',
    'evidence/upgrade-beside-3+2',
    'evidence/upgrade-chain',
    'evidence/upgrade-chain-interruptions',
    'evidence/upgrade-interruptions',
    'evidence/rehearsal',
    'evidence/held-upgrade',
    'evidence/healing',
    'evidence/lost-node',
    'evidence/restore',
    'evidence/manager',
    'evidence/manager-scale',
    'evidence/sdk',
    'evidence/release',
    'evidence/operator-scale',
    'evidence/fleet',
    'evidence/fleet-hosts',
    'evidence/fleet-scale',
    'evidence/management-plane',
    'evidence/conformance',
    'evidence/attacks',
    'evidence/network-policy',
    'evidence/own-network',
    'evidence/dual-stack',
    'evidence/dual-stack-upstream',
    'evidence/dual-stack-lifecycle',
    'evidence/network-policy-matrix',
    'evidence/network-policy-scale',
    'evidence/cis',
    'evidence/virtual-ip',
    'evidence/load-balancer',
    'evidence/corporate-network',
    'evidence/gateway',
    'evidence/adopt',
    'evidence/adopt-move-1-1',
    'evidence/adopt-move-3-2',
    'evidence/adopt-journey-kubeadm-1-1',
    'evidence/adopt-journey-kubeadm-3-2',
    'evidence/adopt-journey-rke1-3-2',
    'evidence/adopt-rollback-kubeadm-3-2',
    'evidence/adopt-rollback-rke1-1-2',
    'evidence/adopt-rollback-rke1-3-2',
    'evidence/adopt-rollback-rke1-canal-3-2',
    'evidence/adopt-lost-member-kubeadm-3-1',
    'evidence/adopt-interruptions-kubeadm-1-1',
    'evidence/adopt-interruptions-rke1-1-1',
    'evidence/adopt-eject-kubeadm-1-1',
    'evidence/adopt-eject-rke1-1-1',
    'evidence/adopt-rke',
    'evidence/eject',
    'evidence/virtual-machine',
    'evidence/powershell',
    'evidence/wine',
    'evidence/properties',
  ],
}

/** Lists all pages below docs/ without their ending. */
export function listPages(): string[] {
  return globSync('**/*.md', { cwd: docs, exclude: ['node_modules', '.vitepress', 'public'] })
    .map((file) => file.replaceAll('\\', '/').replace(/\.md$/, ''))
    .toSorted()
}

/** Returns the first heading of a page without markup. */
export function readTitle(page: string): string {
  const text = readFileSync(join(docs, `${page}.md`), 'utf8')
  const title = /^# (.+)$/m.exec(text)?.[1]
  if (title === undefined) throw new Error(`docs/${page}.md has no heading`)
  return title.replaceAll('`', '')
}

/** Returns the sidebar. Fails when a page is in no group, or in more than one. */
export function makeSidebar() {
  const listed = Object.values(groups).flat()
  const forgotten = listPages().filter((page) => page !== 'index' && !listed.includes(page))
  const repeated = listed.filter((page, index) => listed.indexOf(page) !== index)
  if (forgotten.length + repeated.length > 0)
    throw new Error(`not once in docs/.vitepress/pages.ts: ${[...forgotten, ...repeated].join(', ')}`)
  return Object.entries(groups).map(([text, pages]) => ({
    text,
    collapsed: text === 'Contributing' || text === 'Evidence',
    items: pages.map((page) => ({ text: readTitle(page), link: `/${page}` })),
  }))
}

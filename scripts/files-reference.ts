import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { linuxLayout } from '../src/agent/host/layout.ts'
import { listLeftovers } from '../src/agent/reset/leftovers.ts'
import { certificateMode, keyMode } from '../src/agent/resources/installed-key-pair.ts'
import type { ComponentPlan, PlannedArtifact } from '../src/contract/component-plan.ts'
import type { NodePlan } from '../src/contract/node-plan.ts'
import { planCluster } from '../src/plan/plan.ts'
import { buildPlanInput, parseTestCluster } from '../src/plan/testing/fixtures.ts'
import { renderTable } from './markdown-table.ts'

/** Cluster whose hosts the page shows: a control plane, a Linux worker and a Windows worker. */
const example = 'examples/windows.yml'

const sections: readonly { readonly host: string; readonly title: string }[] = [
  { host: 'cp1', title: 'Control plane' },
  { host: 'w1', title: 'Linux worker' },
  { host: 'win1', title: 'Windows worker' },
]

interface Row {
  readonly path: string
  readonly kind: string
  readonly owner: string
  readonly mode: string
  readonly component: string
}

/** Renders docs/reference/files.md from the plans of an example cluster. */
export function renderFilesReference(): string {
  const text = readFileSync(join(import.meta.dirname, '..', example), 'utf8')
  const { plans } = planCluster(buildPlanInput(parseTestCluster(text)))
  const rendered = sections.map(({ host, title }) => {
    const plan = plans.find((one) => one.host === host)
    if (plan === undefined) throw new Error(`${example} has no host ${host}`)
    return renderHost(title, plan)
  })
  return `# Files on a host

Made by \`npm run reference\` from the plans of \`${example}\`, a cluster with default settings; do not edit. \`hyperkube plan --wide\` lists the
resources of your own hosts. The ledger of each host records what hyperkube created, and \`hyperkube reset\`
[removes it](../how-to/undo-everything.md). Files on the operator's machine are in [environment](environment.md).

- \`VERSION\` is the version of a program; [supported versions](versions.md) lists them.
- A *secret* is sent over ssh and is never part of a plan. A *key* is created on the host and never leaves it.
- A *derived file* is rendered on the host from values that a component has written.
- On Windows, a mode without permissions for others gives access to \`SYSTEM\` and administrators only. Other files inherit the access of
  their directory.

${rendered.join('\n')}`
}

function renderHost(title: string, plan: NodePlan): string {
  const { components, os } = plan
  const rows = [...listPlanRows(plan), ...(os === 'linux' ? listAgentRows(components) : [])]
  const facts = [
    ['users', listCode(components.flatMap(({ users }) => users))],
    ['services', listCode(listServices(components))],
    ['kernel modules', listCode(components.flatMap(({ modules }) => modules))],
    ['kernel settings', listCode(components.flatMap((one) => formatSysctls(one.sysctls)))],
    ['firewall rules', listCode(components.flatMap((one) => one.firewall.map(formatFirewallRule)))],
    ['written by the components', os === 'linux' ? listCode(listDataDirectories(components)) : ''],
  ].filter(([, value]) => value !== '')
  return `## ${title}

${renderTable(['', ''], facts)}

${renderTable(
  ['path', 'kind', 'owner', 'mode', 'component'],
  mergeRows(rows).map((row) => [`\`${row.path}\``, row.kind, row.owner, row.mode, row.component]),
)}
`
}

function listPlanRows({ components, os }: NodePlan): Row[] {
  return components.flatMap((component) => {
    const { name, directories, files, derivedFiles, certificates, artifacts, service } = component
    const common = { component: name }
    const installer = os === 'linux' ? 'root' : 'SYSTEM'
    return [
      ...directories.map(({ path, owner, mode }) => ({ ...common, path, kind: 'directory', owner, mode })),
      ...files.map(({ path, owner, mode, content }) => ({
        ...common,
        path,
        kind: content.kind === 'secret' ? 'secret' : 'file',
        owner,
        mode,
      })),
      ...derivedFiles.map(({ path, owner, mode }) => ({
        ...common,
        path,
        kind: 'derived file',
        owner,
        mode,
      })),
      ...certificates.flatMap(({ certificateFile, keyFile, owner }) => [
        { ...common, path: certificateFile, kind: 'certificate', owner, mode: certificateMode },
        { ...common, path: keyFile, kind: 'key', owner, mode: keyMode },
      ]),
      ...artifacts.map((artifact) => ({
        ...common,
        path: formatProgramDirectory(artifact),
        kind: 'programs',
        owner: installer,
        mode: '0755',
      })),
      ...(service?.supervisor === 'systemd'
        ? [
            {
              ...common,
              path: `${linuxLayout.units}/${service.name}`,
              kind: 'unit',
              owner: 'root',
              mode: '0600',
            },
          ]
        : []),
    ]
  })
}

/** Lists files that the agent writes on a Linux host without an entry in the plan. */
function listAgentRows(components: readonly ComponentPlan[]): Row[] {
  const common = { owner: 'root', component: 'host' }
  const hasModules = components.some(({ modules }) => modules.length > 0)
  const hasSysctls = components.some(({ sysctls }) => Object.keys(sysctls).length > 0)
  return [
    ...(hasModules ? [{ ...common, path: linuxLayout.modules, kind: 'file', mode: '0644' }] : []),
    ...(hasSysctls ? [{ ...common, path: linuxLayout.sysctls, kind: 'file', mode: '0644' }] : []),
    { ...common, path: linuxLayout.currentLink, kind: 'link', mode: '', component: 'hyperkube-agent' },
  ]
}

/** Lists directories that the programs of components create, and that `reset` removes. */
function listDataDirectories(components: readonly ComponentPlan[]): string[] {
  const resources = listServices(components).map((name) => ({ target: 'service' as const, name }))
  const { directories, files } = listLeftovers({ resources, retainedDirectories: [] })
  return [...directories, ...files, linuxLayout.snapshots, linuxLayout.runtime].toSorted()
}

function listServices(components: readonly ComponentPlan[]): string[] {
  return components.flatMap(({ service }) => (service === undefined ? [] : [service.name]))
}

/** Replaces the version, which would otherwise change this page with every release. */
function formatProgramDirectory({ directory, version }: PlannedArtifact): string {
  return directory.endsWith(`-${version}`) ? `${directory.slice(0, -version.length)}VERSION` : directory
}

function formatSysctls(sysctls: Readonly<Record<string, string>>): string[] {
  return Object.entries(sysctls).map(([name, value]) => `${name} = ${value}`)
}

function formatFirewallRule({ protocol, ports }: ComponentPlan['firewall'][number]): string {
  return `${ports}/${protocol}`
}

/** Sorts rows by path, and combines rows of a path that several components own. */
function mergeRows(rows: readonly Row[]): Row[] {
  return [...Map.groupBy(rows, ({ path }) => path).values()]
    .flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [{ ...first, component: [first, ...others].map(({ component }) => component).join(', ') }],
    )
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function listCode(values: readonly string[]): string {
  return [...new Set(values)].map((value) => `\`${value}\``).join(', ')
}

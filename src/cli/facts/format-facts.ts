import type { BasicFacts } from '../../contract/basic-facts.ts'
import type { Facts } from '../../contract/facts.ts'
import { toPrintable } from '../../kit/printable.ts'
import { formatCount } from '../format-text.ts'

type System = Facts['system']
type Linux = Extract<System, { os: 'linux' }>
type Windows = Extract<System, { os: 'windows' }>
type Row = readonly [label: string, value: string]

/** Formats the most important facts of a host. The JSON document contains all facts. */
export function formatFacts({ host, system }: Facts): string {
  return formatRows(`${host}: ${formatSystem(system)}`, [
    ...listCommonRows(system),
    ['listening', system.listeners.map(({ port, process = 'unknown' }) => `${port} ${process}`).join(', ')],
    ...(system.os === 'linux' ? listLinuxRows(system) : listWindowsRows(system)),
  ])
}

/** Formats the basic facts of a Windows host whose PowerShell did not respond. */
export function formatBasicFacts({ host, system }: BasicFacts): string {
  return formatRows(`${host}: Windows build ${system.build}, ${system.arch}; all else could not be asked`, [
    ...listCommonRows(system),
    ['also here', system.foreignServices.join(', ')],
  ])
}

function formatRows(head: string, all: readonly Row[]): string {
  const rows = all.filter(([, value]) => value !== '')
  const width = Math.max(...rows.map(([label]) => label.length))
  const lines = rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}\n`)
  return toPrintable(`${head}\n${lines.join('')}`)
}

function formatSystem(system: System): string {
  if (system.os === 'windows') return `Windows build ${system.build}.${system.revision}, ${system.arch}`
  const { distribution, kernel, arch, container } = system
  return [distribution.name, `kernel ${kernel.release}`, arch, ...(container ? ['a container'] : [])].join(
    ', ',
  )
}

function listCommonRows(system: Pick<System, 'addresses' | 'cpus' | 'memoryBytes' | 'disks'>): Row[] {
  const addresses = system.addresses.filter(({ interface: name }) => name !== 'lo')
  return [
    ['size', `${formatCount(system.cpus, 'CPU')}, ${toGibibytes(system.memoryBytes)} GiB of memory`],
    ['addresses', addresses.map((entry) => `${entry.interface} ${entry.address}/${entry.prefix}`).join(', ')],
    ['disks', formatDisks(system)],
  ]
}

/** Formats free disk space. Directories with equal sizes are on the same disk and are listed once. */
function formatDisks({ disks }: Pick<System, 'disks'>): string {
  const unique = new Map(
    disks.toReversed().map((disk) => [`${disk.availableBytes} ${disk.totalBytes}`, disk]),
  )
  return [...unique.values()]
    .toReversed()
    .map(
      (disk) =>
        `${disk.path} ${toGibibytes(disk.availableBytes)} of ${toGibibytes(disk.totalBytes)} GiB free`,
    )
    .join(', ')
}

function listLinuxRows({ init, kernel, cgroup, programs, resolver, ...system }: Linux): Row[] {
  const { release: _, ...features } = kernel
  const has = Object.entries(features).filter(([, isPresent]) => isPresent)
  const missing = Object.entries(features).filter(([, isPresent]) => !isPresent)
  const alsoPresent = [
    ...system.foreignServices,
    ...system.firewalls,
    ...(system.networkManager ? ['NetworkManager'] : []),
    ...(system.selinux === 'disabled' ? [] : [`SELinux ${system.selinux}`]),
    ...(system.swap ? ['swap'] : []),
  ]
  return [
    ['services', `${init.name} ${init.version}`.trim()],
    ['cgroups', `version ${cgroup.version}: ${cgroup.controllers.join(', ')}`],
    ['kernel has', formatFeatures(has)],
    ['kernel lacks', formatFeatures(missing)],
    ['programs', programs.join(', ')],
    ['root lacks', system.missingCapabilities.join(', ')],
    ['resolver', `${resolver.file}: ${resolver.servers.join(', ') || 'no server'}`],
    ['also here', alsoPresent.join(', ')],
  ]
}

function listWindowsRows(system: Windows): Row[] {
  const features = [
    ...(system.containersFeature ? ['Containers'] : []),
    ...(system.hyperVFeature ? ['Hyper-V'] : []),
  ]
  return [
    ['edition', `${system.edition}, ${system.installation}`],
    ['features', features.join(', ')],
    ['networks', system.networks.map(({ name, type }) => `${name} (${type})`).join(', ')],
    ['also here', system.foreignServices.join(', ')],
    ['pending', system.rebootPending ? 'a restart' : ''],
  ]
}

function formatFeatures(features: readonly (readonly [string, boolean])[]): string {
  return features.map(([name]) => (name === 'bridgeNetfilter' ? 'bridge netfilter' : name)).join(', ')
}

function toGibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1)
}

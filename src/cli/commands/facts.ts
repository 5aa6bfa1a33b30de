import { hostname as machineName } from 'node:os'
import { z } from 'zod'
import { collectFacts } from '../../agent/facts/linux/collect.ts'
import { readHostname } from '../../agent/facts/linux/network.ts'
import { createLocalFactSource } from '../../agent/facts/linux/local-source.ts'
import type { FactSource } from '../../agent/facts/source.ts'
import { collectBasicWindowsFacts, collectWindowsFacts } from '../../agent/facts/windows/collect.ts'
import { type BasicWindowsFactSource, readWindowsSystemInfo } from '../../agent/facts/windows/source.ts'
import { thisWindows } from '../../agent/host/windows/this-windows.ts'
import type { BasicFacts, Facts } from '../../contract/facts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'

const flags = z.object({ host: z.string().optional(), baseDirectory: z.string() })

/**
 * The host on which `hyperkube facts` runs: its platform, whether the user is root, and the sources of its
 * facts.
 */
export interface FactsEnvironment {
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  readonly source: FactSource
  /** Reads the facts of a Windows host; `base` is hyperkube's directory on that host. */
  readonly windows: (base: string, host?: string) => Promise<WindowsFactsResult>
}

/** Complete facts, or the basic facts and the reason why the rest is missing. */
export type WindowsFactsResult = Facts | { readonly bare: BasicFacts; readonly because: unknown }

export const factsCommand: LeafCommand = createFactsCommand(() => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  source: createLocalFactSource(),
  async windows(base, host = machineName().toLowerCase()) {
    await using windows = await thisWindows()
    return await readWindowsFacts({ ...readWindowsSystemInfo(), operations: windows.host, base }, host)
  },
}))

export function createFactsCommand(detectEnvironment: () => FactsEnvironment): LeafCommand {
  return {
    examples: [
      ['hyperkube facts', 'print a summary of this host'],
      [
        'ssh root@10.0.0.11 hyperkube facts --host cp1 -o json > facts/cp1.json',
        'record facts of cp1 for hyperkube plan --facts',
      ],
    ],
    sharedFlags: ['output'],
    configure(command) {
      command
        .option('--host <name>', 'set the host name used in cluster.yml (default: hostname)')
        .option(
          '--base-directory <directory>',
          'Windows: use this base directory of all hyperkube files',
          String.raw`C:\hyperkube`,
        )
    },
    async run({ stdout }, { options }) {
      const environment = detectEnvironment()
      requireLinuxRoot(environment)
      const { host, baseDirectory } = flags.parse(options)
      const result =
        environment.platform === 'win32'
          ? await environment.windows(baseDirectory, host)
          : await collectFacts(environment.source, host ?? (await readHostname(environment.source)))
      if ('bare' in result) {
        printResult(stdout, options.output, result.bare, () => formatBasicFacts(result.bare))
        throw result.because
      }
      printResult(stdout, options.output, result, () => formatFacts(result))
      return exitCodes.ok
    },
  }
}

/**
 * Reads the facts of a Windows host. If PowerShell does not respond, returns the basic facts, which still
 * help to diagnose the host.
 */
export async function readWindowsFacts(
  source: BasicWindowsFactSource,
  host: string,
): Promise<WindowsFactsResult> {
  return collectWindowsFacts(source, host).catch(async (because: unknown) => {
    const bare = await collectBasicWindowsFacts(source, host).catch(() => undefined)
    if (bare === undefined) throw because
    return { bare, because }
  })
}

function requireLinuxRoot({ platform, isRoot }: FactsEnvironment): void {
  if (platform === 'win32') return
  if (platform !== 'linux') {
    throw new HyperkubeError(
      'FACTS_NOT_TAKEN',
      `hosts of a cluster run Linux or Windows; this machine runs ${platform}`,
      {
        hint: 'run the command on a host of the cluster: ssh root@HOST hyperkube facts',
      },
    )
  }
  if (!isRoot) {
    throw new HyperkubeError('FACTS_NOT_ROOT', 'only root can read all facts of a host', {
      hint: 'run as root: sudo hyperkube facts',
    })
  }
}

type System = Facts['system']
type Linux = Extract<System, { os: 'linux' }>
type Windows = Extract<System, { os: 'windows' }>
type Row = readonly [label: string, value: string]

/** Formats the most important facts of a host. The JSON document contains all facts. */
function formatFacts({ host, system }: Facts): string {
  return formatRows(`${host}: ${formatSystem(system)}`, [
    ...listCommonRows(system),
    ['listening', system.listeners.map(({ port, process = 'unknown' }) => `${port} ${process}`).join(', ')],
    ...(system.os === 'linux' ? listLinuxRows(system) : listWindowsRows(system)),
  ])
}

/** Formats the basic facts of a Windows host whose PowerShell did not respond. */
function formatBasicFacts({ host, system }: BasicFacts): string {
  return formatRows(`${host}: Windows build ${system.build}, ${system.arch}; other facts are unavailable`, [
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
    ['pending', system.rebootPending ? 'a reboot' : ''],
  ]
}

function formatFeatures(features: readonly (readonly [string, boolean])[]): string {
  return features.map(([name]) => (name === 'bridgeNetfilter' ? 'bridge netfilter' : name)).join(', ')
}

function toGibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1)
}

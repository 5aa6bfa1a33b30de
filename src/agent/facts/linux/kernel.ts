import type { Argv } from '../../../kit/command.ts'
import { type Fact, type FactSource, readRequiredFile } from '../source.ts'
import { readMissingCapabilities } from './capabilities.ts'

/**
 * Commands that test a kernel feature by using it. They run only if neither the modules nor the files of the
 * kernel show the feature. They run in a temporary network namespace, so the host's network does not change.
 */
const featureCommands = {
  bridge: ['ip', 'link', 'add', 'name', 'test', 'type', 'bridge'],
  vxlan: ['ip', 'link', 'add', 'name', 'test', 'type', 'vxlan', 'id', '1', 'dstport', '4789'],
  // Statements of the kinds that kube-proxy's rules contain.
  nftables: [
    'nft',
    [
      'add table ip test',
      'add chain ip test target',
      'add chain ip test nat { type nat hook postrouting priority 100 ; }',
      'add rule ip test nat fib daddr type local masquerade',
      'add rule ip test nat numgen random mod 1 vmap { 0 : goto target }',
    ].join('; '),
  ],
  iptables: [
    ...['iptables', '-w', '2', '-t', 'nat', '-A', 'POSTROUTING'],
    ...['-m', 'comment', '--comment', 'test', '-j', 'MASQUERADE'],
  ],
} as const satisfies Readonly<Record<string, Argv>>

async function canUseFeature({ run }: FactSource, feature: keyof typeof featureCommands): Promise<boolean> {
  return (await run(['unshare', '--net', ...featureCommands[feature]])).code === 0
}

/** Modules that kube-proxy's rules need, by their names since kernel 5.2. */
const nftablesModules = ['nf_tables', 'nft_chain_nat', 'nft_fib_ipv4', 'nft_masq', 'nft_nat', 'nft_numgen']
/**
 * Modules that iptables needs: one set for iptables on top of nftables, and one set for legacy iptables. One
 * of the two sets is sufficient.
 */
const iptablesModules = [
  ['nf_tables', 'nft_compat'],
  ['ip_tables', 'iptable_nat'],
]

export const readKernel: Fact<'kernel'> = async (source) => {
  const release = (await readRequiredFile(source, '/proc/sys/kernel/osrelease')).trim()
  const modules = await readKernelModules(source, release)
  const { has } = modules
  const hasAll = async (names: readonly string[]): Promise<boolean> =>
    (await Promise.all(names.map(has))).every(Boolean)
  const [overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables] = await Promise.all([
    isAnyTrue(
      async () => hasFileSystem((await source.readFile('/proc/filesystems')) ?? '', 'overlay'),
      async () => has('overlay'),
    ),
    isAnyTrue(
      async () => has('vxlan'),
      async () => canUseFeature(source, 'vxlan'),
    ),
    isAnyTrue(
      async () => has('bridge'),
      async () => canUseFeature(source, 'bridge'),
    ),
    isAnyTrue(
      async () => source.exists('/proc/sys/net/bridge/bridge-nf-call-iptables'),
      async () => has('br_netfilter'),
    ),
    isAnyTrue(
      async () => hasAll(nftablesModules),
      async () => canUseFeature(source, 'nftables'),
    ),
    isAnyTrue(
      async () => source.exists('/proc/net/ip_tables_names'),
      ...iptablesModules.map((names) => async () => hasAll(names)),
      async () => canUseFeature(source, 'iptables'),
    ),
  ])
  return { release, modules: modules.loadable, overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables }
}

/** Runs the checks in order until one returns true. The cheapest check comes first. */
async function isAnyTrue(...checks: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const check of checks) if (await check()) return true
  return false
}

/** True if /proc/filesystems contains the file system. */
export function hasFileSystem(text: string, name: string): boolean {
  return text.split('\n').some((line) => line.split('\t')[1] === name)
}

/** Modules that the kernel contains or can load. */
interface KernelModules {
  /** True if the kernel can load modules at all. */
  readonly loadable: boolean
  readonly has: (name: string) => Promise<boolean>
}

export async function readKernelModules(source: FactSource, release: string): Promise<KernelModules> {
  const { readFile, exists } = source
  const [builtin, onDisk, refused, supported, locked, missing] = await Promise.all([
    readFile(`/lib/modules/${release}/modules.builtin`),
    readFile(`/lib/modules/${release}/modules.dep`),
    readRefusedModules(source),
    exists('/proc/modules'),
    readFile('/proc/sys/kernel/modules_disabled'),
    readMissingCapabilities(source),
  ])
  const builtinNames = parseModuleNames(builtin ?? '')
  const loadableNames = parseModuleNames(onDisk ?? '')
  const loadable =
    supported && loadableNames.size > 0 && locked?.trim() !== '1' && !missing.includes('CAP_SYS_MODULE')
  return {
    loadable,
    has: async (name) =>
      builtinNames.has(name) ||
      (loadable && loadableNames.has(name) && !refused.has(name)) ||
      // /sys/module/NAME exists for loaded modules, and for built-in modules that have parameters.
      exists(`/sys/module/${name}`),
  }
}

/**
 * Parses the module names in modules.builtin or modules.dep. Each line is a path; in modules.dep a colon and
 * dependencies follow.
 */
export function parseModuleNames(text: string): ReadonlySet<string> {
  const names = text.matchAll(/^[^:\n]*?([^/:\n]+)\.ko(?:\.\w+)?(?=:|$)/gm)
  return new Set([...names].map(([, name = '']) => normalizeModuleName(name)))
}

const directories = [
  '/etc/modprobe.d',
  '/run/modprobe.d',
  '/usr/local/lib/modprobe.d',
  '/usr/lib/modprobe.d',
  '/lib/modprobe.d',
]

/** Reads which modules the modprobe configuration refuses to load. Hardened hosts have such entries. */
async function readRefusedModules({ listDirectory, readFile }: FactSource): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    directories.map(async (path) =>
      (await listDirectory(path)).filter((name) => name.endsWith('.conf')).map((name) => `${path}/${name}`),
    ),
  )
  const texts = await Promise.all(names.flat().map(readFile))
  return parseRefusedModules(texts.map((text) => text ?? '').join('\n'))
}

/** Finds modules whose modprobe install command is `true` or `false`, so that they are never loaded. */
export function parseRefusedModules(text: string): ReadonlySet<string> {
  const lines = text.matchAll(/^\s*install\s+(\S+)\s+(?:\/usr)?\/bin\/(?:true|false)\b/gm)
  return new Set([...lines].map(([, name = '']) => normalizeModuleName(name)))
}

/** Replaces dashes with underscores, because the kernel treats both as equal in module names. */
function normalizeModuleName(name: string): string {
  return name.replaceAll('-', '_')
}

import {
  type Fact,
  type FactSource,
  type LinuxFacts,
  programDirectories,
  readRequiredFile,
} from '../source.ts'

export const readDistribution: Fact<'distribution'> = async ({ readFile }) =>
  parseRelease((await readFile('/etc/os-release')) ?? (await readFile('/usr/lib/os-release')) ?? '')

/** Parses os-release, whose values are quoted as in a shell. Rolling distributions have no version. */
export function parseRelease(text: string): LinuxFacts['distribution'] {
  const lines = text.matchAll(/^([A-Z_]+)=(.*)$/gm)
  const values: Readonly<Record<string, string>> = Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [name, unquote(value.trim())]),
  )
  const { ID = 'linux', VERSION_ID = '', NAME = 'Linux', PRETTY_NAME = NAME } = values
  return { id: ID, version: VERSION_ID, name: PRETTY_NAME }
}

function unquote(value: string): string {
  const unquoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
  return unquoted.replaceAll(/\\(["'$`\\])/g, '$1')
}

/** Detects systemd by its runtime directory, because process 1 may have another name in a container. */
export const readInit: Fact<'init'> = async (source) => {
  const [booted, name, maps] = await Promise.all([
    source.exists('/run/systemd/system'),
    readRequiredFile(source, '/proc/1/comm'),
    source.readFile('/proc/1/maps'),
  ])
  return booted
    ? { name: 'systemd', version: parseSystemdVersion(maps ?? '') }
    : { name: name.trim(), version: '' }
}

/** Finds the version of systemd in the name of a library that process 1 has loaded. */
export function parseSystemdVersion(maps: string): string {
  return /\/libsystemd-(?:shared|core)-(\d+)[^/\s]*\.so/.exec(maps)?.[1] ?? ''
}

const units = {
  firewalld: 'firewalld.service',
  ufw: 'ufw.service',
  docker: 'docker.service',
  // Unit of the Docker package from Ubuntu's snap store.
  dockerSnap: 'snap.docker.dockerd.service',
  networkManager: 'NetworkManager.service',
  keepalived: 'keepalived.service',
} as const

export const readFirewalls: Fact<'firewalls'> = async (source) => {
  const [active, ufw] = await Promise.all([readActiveUnits(source), source.readFile('/etc/ufw/ufw.conf')])
  return [
    ...(active.has(units.firewalld) ? (['firewalld'] as const) : []),
    // The ufw unit is active even when ufw is disabled, so ufw.conf is checked too.
    ...(active.has(units.ufw) && isUfwEnabled(ufw ?? '') ? (['ufw'] as const) : []),
    ...(active.has(units.docker) || active.has(units.dockerSnap) ? (['docker'] as const) : []),
  ]
}

export const readNetworkManager: Fact<'networkManager'> = async (source) =>
  (await readActiveUnits(source)).has(units.networkManager)

/**
 * Queries all units with one command. Three facts need the result, but `cacheCommands` runs the command only
 * once.
 */
export async function readActiveUnits({ run }: FactSource): Promise<ReadonlySet<string>> {
  const names = Object.values(units)
  return parseActiveUnits(names, (await run(['systemctl', 'is-active', ...names])).stdout)
}

/** Parses the output of `systemctl is-active`: one state per unit, in the order of the arguments. */
export function parseActiveUnits(names: readonly string[], text: string): ReadonlySet<string> {
  const states = text.split('\n')
  return new Set(names.filter((_, index) => ['active', 'reloading'].includes(states[index] ?? '')))
}

/** True if ufw.conf enables ufw. */
export function isUfwEnabled(text: string): boolean {
  return /^\s*ENABLED\s*=\s*["']?yes/im.test(text)
}

/** Programs of the host that components call. */
const requiredPrograms = [
  'conntrack',
  'curl',
  'ethtool',
  'ipset',
  'iptables',
  'keepalived',
  'modprobe',
  'mount',
  'nft',
  'socat',
  'umount',
]

export const readPrograms: Fact<'programs'> = async ({ exists }) => {
  const found = await Promise.all(
    requiredPrograms.map(async (name) =>
      Promise.all(programDirectories.map(async (path) => exists(`${path}/${name}`))),
    ),
  )
  return requiredPrograms.filter((_, index) => found[index]?.includes(true))
}

export const readForeignFilterTable: Fact<'foreignFilterTable'> = async (source) =>
  (await refusesToList(source, 'iptables')) ? true : undefined

/** Lists rules, which changes nothing. The exit code of a missing program is 127. */
export async function refusesToList(
  { run }: Pick<FactSource, 'run'>,
  program: 'iptables' | 'ip6tables',
): Promise<boolean> {
  const { code } = await run([program, '-w', '2', '-S'])
  return code !== 0 && code !== 127
}

export const readSelinux: Fact<'selinux'> = async ({ readFile }) =>
  parseEnforce(await readFile('/sys/fs/selinux/enforce'))

/** Parses /sys/fs/selinux/enforce, which does not exist if SELinux is disabled. */
export function parseEnforce(text: string | undefined): LinuxFacts['selinux'] {
  if (text === undefined) return 'disabled'
  return text.trim() === '1' ? 'enforcing' : 'permissive'
}

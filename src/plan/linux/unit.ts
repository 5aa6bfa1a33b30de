import type { ServiceSpec } from '../../contract/service.ts'
import type { Args } from '../args.ts'
import type { LinuxSystemFacts } from '../context.ts'

/** One setting of a systemd unit. The same name may occur several times. */
export type UnitSetting = readonly [name: string, value: string]

export interface UnitOptions {
  /** Name of the service and of its unit. */
  readonly name: string
  readonly description: string
  /**
   * Units that start before this unit and stop after it. Mainly the stop order matters, because a starting
   * service waits for its dependencies by itself.
   */
  readonly after?: readonly string[]
  readonly type: 'notify' | 'exec'
  readonly command: readonly string[]
  readonly user?: string
  /** Memory that systemd protects for the service when other processes use up the memory of the host. */
  readonly memoryFloor: string
  readonly settings?: readonly UnitSetting[]
}

/** Slice of all hyperkube services. Its memory floor covers the floors of the services. */
export const hyperkubeSlice = 'hyperkube.slice'

/** Builds a service that systemd always restarts, so that it recovers without an operator. */
export function buildSystemdService(
  options: UnitOptions,
  { cgroup, missingCapabilities }: LinuxSystemFacts,
): ServiceSpec {
  const { name, description, after = [], type, command, user, memoryFloor, settings = [] } = options
  const service: readonly UnitSetting[] = [
    ['Type', type],
    ...(user === undefined ? [] : [['User', user] as const]),
    ['ExecStart', formatExecStart(command)],
    ['Restart', 'always'],
    ['RestartSec', '2'],
    // A service may wait for its dependencies without limit. Probes decide whether it is healthy.
    ['TimeoutStartSec', 'infinity'],
    ['LimitNOFILE', '1048576'],
    ['Slice', hyperkubeSlice],
    ...(cgroup.version === 2 ? [['MemoryMin', memoryFloor] as const] : []),
    ...(missingCapabilities.includes('CAP_SYS_RESOURCE') ? [] : [['OOMScoreAdjust', '-999'] as const]),
    ...settings,
  ]
  const unit = renderUnit([
    [
      'Unit',
      [
        ['Description', description],
        ['Wants', 'network-online.target'],
        ['After', ['network-online.target', ...after.map((one) => `${one}.service`)].join(' ')],
        ['StartLimitIntervalSec', '0'],
      ],
    ],
    ['Service', service],
    ['Install', [['WantedBy', 'multi-user.target']]],
  ])
  return { supervisor: 'systemd', name: `${name}.service`, unit }
}

/** Sandbox for programs that only use the network and write to the given directories. */
export function sandboxSettings(...writable: readonly string[]): readonly UnitSetting[] {
  return [
    ['NoNewPrivileges', 'yes'],
    ['CapabilityBoundingSet', ''],
    ['ProtectSystem', 'strict'],
    ...(writable.length === 0 ? [] : [['ReadWritePaths', writable.join(' ')] as const]),
    ['ProtectHome', 'yes'],
    ['PrivateTmp', 'yes'],
    ['PrivateDevices', 'yes'],
    ['ProtectKernelTunables', 'yes'],
    ['ProtectKernelModules', 'yes'],
    ['ProtectControlGroups', 'yes'],
    ['RestrictAddressFamilies', 'AF_INET AF_INET6 AF_UNIX AF_NETLINK'],
    ['RestrictNamespaces', 'yes'],
    ['RestrictSUIDSGID', 'yes'],
    ['LockPersonality', 'yes'],
    ['SystemCallArchitectures', 'native'],
  ]
}

/** Formats an environment variable as a unit setting. */
export function environmentSetting(name: string, value: string): UnitSetting {
  const text = `${name}=${value}`.replaceAll('%', '%%')
  return ['Environment', `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`]
}

/**
 * Setting for hyperkube programs: malloc returns freed blocks of at least this size to the system. Node.js
 * uses such blocks for I/O. Without the setting they would stay allocated after a burst.
 */
export const mallocThreshold: UnitSetting = environmentSetting('MALLOC_MMAP_THRESHOLD_', '8192')

/**
 * Setting for the agent, like `mallocThreshold`, but with a threshold above 64 kB. Node.js reads sockets in
 * blocks of 64 kB. A new mapping for each block would double the CPU time of a download.
 */
export const agentMallocThreshold: UnitSetting = environmentSetting('MALLOC_MMAP_THRESHOLD_', '73728')

type Section = readonly [name: string, settings: readonly UnitSetting[]]

export function renderUnit(sections: readonly Section[]): string {
  return sections
    .map(([name, settings]) =>
      [`[${name}]`, ...settings.map(([key, value]) => `${key}=${value}`), ''].join('\n'),
    )
    .join('\n')
}

function formatExecStart(command: readonly string[]): string {
  return command.map(quoteArgument).join(' \\\n  ')
}

/** Quotes an argument of a command line, in which systemd interprets %, $, quotes and backslashes. */
function quoteArgument(text: string): string {
  const escaped = text.replaceAll('%', '%%').replaceAll('$', '$$$$')
  if (/^[\w@%+=:,./$*-]+$/.test(escaped)) return escaped
  return `"${escaped.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

/** Parses the flags of the command that `formatExecStart` wrote into a unit, one on each line. */
export function parseUnitFlags(unit: string): Args {
  const lines = unit.matchAll(/^ {2}(?:"(--.*)"|(--\S*))(?: \\)?$/gm)
  return Object.fromEntries(
    [...lines].flatMap(([, quoted, plain = '']) => {
      const text = (quoted === undefined ? plain : unquote(quoted))
        .replaceAll('%%', '%')
        .replaceAll('$$', '$')
      const [, name, value] = /^--([\w.-]+)=(.*)$/s.exec(text) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
}

function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}

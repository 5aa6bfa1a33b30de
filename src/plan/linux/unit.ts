import type { Service } from '../../contract/service.ts'
import type { LinuxFacts } from '../context.ts'

/** One setting of a unit; several of the same name are allowed, as in systemd's own files. */
export type Setting = readonly [name: string, value: string]

export interface UnitWish {
  /** Also the unit's name. */
  readonly name: string
  readonly description: string
  /** Units that start before it and, more important, stop after it. */
  readonly after?: readonly string[]
  readonly type: 'notify' | 'exec'
  readonly command: readonly string[]
  readonly user?: string
  /** What it needs to go on while others take all there is. */
  readonly memoryFloor: string
  readonly settings?: readonly Setting[]
}

/** All services of the engine are in one slice, whose floor holds theirs. */
export const slice = 'hyperkube.slice'

/** A unit that is started again for ever: giving up is for people, who are asleep. */
export function systemdService(wish: UnitWish, { cgroup, missingCapabilities }: LinuxFacts): Service {
  const { name, description, after = [], type, command, user, memoryFloor, settings = [] } = wish
  const service: readonly Setting[] = [
    ['Type', type],
    ...(user === undefined ? [] : [['User', user] as const]),
    ['ExecStart', execStart(command)],
    ['Restart', 'always'],
    ['RestartSec', '2'],
    // It may wait for others as long as it takes; whether it is well is asked by probes.
    ['TimeoutStartSec', 'infinity'],
    ['LimitNOFILE', '1048576'],
    ['Slice', slice],
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

/** For programs that only listen, ask and write where they are told: nothing else of the host is theirs. */
export function confined(...writable: readonly string[]): readonly Setting[] {
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

/** A variable of a service. */
export function environment(name: string, value: string): Setting {
  const text = `${name}=${value}`.replaceAll('%', '%%')
  return ['Environment', `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`]
}

/**
 * For hyperkube's own programs: the C library takes pieces of this size from the system and gives them back. To it they
 * are small, but Node reads and sends in them, and what a burst of that leaves behind would stay for ever.
 */
export const thrifty: Setting = environment('MALLOC_MMAP_THRESHOLD_', '8192')

type Section = readonly [name: string, settings: readonly Setting[]]

export function renderUnit(sections: readonly Section[]): string {
  return sections
    .map(([name, settings]) =>
      [`[${name}]`, ...settings.map(([key, value]) => `${key}=${value}`), ''].join('\n'),
    )
    .join('\n')
}

function execStart(command: readonly string[]): string {
  return command.map(word).join(' \\\n  ')
}

/** systemd reads %, $, quotes and backslashes in a command line. */
function word(text: string): string {
  const escaped = text.replaceAll('%', '%%').replaceAll('$', '$$$$')
  if (/^[\w@%+=:,./$*-]+$/.test(escaped)) return escaped
  return `"${escaped.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

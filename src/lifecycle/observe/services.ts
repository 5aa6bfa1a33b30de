import { z } from 'zod'
import type { Remote } from '../../ssh/remote.ts'
import { callHost, type HostCallResponseOf } from '../../ssh/windows/call-host.ts'
import { findHostProgram } from '../agents/host-program.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { readWindowsLog } from '../logs/host-log.ts'

/** A service as the service manager of its host reports it. */
export interface ServiceStatus {
  readonly name: string
  readonly state: 'active' | 'starting' | 'stopped' | 'failed' | 'missing'
  /** Number of automatic restarts. */
  readonly restarts: number
  /** True if the service starts when the host boots; undefined if unknown. */
  readonly enabled?: boolean
}

export interface HostServicesObservation {
  /** hyperkube version on the host; undefined if hyperkube is not installed. */
  readonly version: string | undefined
  readonly services: readonly ServiceStatus[]
}

/** Lists the services that a host runs according to its roles, in start order. */
export function listServiceNames(endpoint: HostEndpoint): string[] {
  const { etcd, api, manager, virtualIP, flannel, kubeRouter, withoutKubeProxy, node } = endpoint
  return [
    'hyperkube-agent',
    ...(etcd ? ['etcd'] : []),
    ...(api ? ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] : []),
    ...(manager === true ? ['hyperkube-controller-manager'] : []),
    ...(virtualIP === true ? ['hyperkube-keepalived'] : []),
    ...(node === undefined ? [] : ['containerd', 'apiserver-proxy', 'kubelet']),
    ...(flannel === true ? ['flanneld'] : []),
    ...(node === undefined || withoutKubeProxy === true ? [] : ['kube-proxy']),
    ...(kubeRouter === true ? ['kube-router'] : []),
  ]
}

/**
 * Prints the installed hyperkube version and the state of the given units. Changes nothing and does not use
 * the agent.
 */
const servicesScript = `
readlink /opt/hyperkube/current || echo
systemctl show --property=Id,LoadState,ActiveState,NRestarts,UnitFileState "$@"
`

export async function readHostServices(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<HostServicesObservation> {
  if (remote.windows !== undefined) return readWindowsServices(remote, names, signal)
  const units = names.map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', servicesScript, 'observe', ...units], { signal })
  const [first = '', ...rest] = stdout.split('\n')
  return {
    version: /\/hyperkube-([^/]+)$/.exec(first)?.[1],
    services: rest
      .join('\n')
      .split('\n\n')
      .filter((block) => block.trim() !== '')
      .map(parseServiceStatus),
  }
}

async function readWindowsServices(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<HostServicesObservation> {
  const request = { type: 'services', names } as const
  const { version, services } = await callHost(
    await findHostProgram(remote, signal),
    request,
    'services',
    signal,
  )
  return { version, services: services.map(toServiceStatus) }
}

type WindowsService = HostCallResponseOf<'services'>['services'][number]

/**
 * Converts the status of a Windows service. Restarts come from the agent, because the Windows service manager
 * does not count them.
 */
function toServiceStatus({ name, state, enabled, restarts = 0 }: WindowsService): ServiceStatus {
  return { name, state, restarts, ...(enabled === undefined ? {} : { enabled }) }
}

const unitProperties = z.object({
  Id: z.string(),
  LoadState: z.string(),
  ActiveState: z.string(),
  NRestarts: z.coerce.number().catch(0),
  UnitFileState: z.string().default(''),
})

export function parseServiceStatus(block: string): ServiceStatus {
  const lines = block
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  const { Id, LoadState, ActiveState, NRestarts, UnitFileState } = unitProperties.parse(
    Object.fromEntries(lines),
  )
  const state =
    LoadState === 'not-found'
      ? 'missing'
      : ActiveState === 'active'
        ? 'active'
        : ActiveState === 'failed'
          ? 'failed'
          : // systemd reports `activating` while a service restarts.
            ActiveState === 'activating' || ActiveState === 'reloading'
            ? 'starting'
            : 'stopped'
  const name = Id.replace(/\.service$/, '')
  return {
    name,
    state,
    restarts: NRestarts,
    ...(UnitFileState === '' ? {} : { enabled: UnitFileState !== 'disabled' && UnitFileState !== 'masked' }),
  }
}

/** Last log lines by service name. */
export type LastLogLines = ReadonlyMap<string, readonly string[]>

const linesPerService = 5
/**
 * Maximum number of services whose logs are read. If more services are down, single log lines do not help.
 */
const maxServices = 4

const logScript = `
for unit in "$@"; do
  echo "unit $unit"
  journalctl --unit="$unit" --lines=${linesPerService} --output=short-iso --no-pager --quiet 2>/dev/null | sed 's/^/line /'
done
`

export async function readLastLogLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLogLines> {
  if (names.length === 0) return new Map()
  if (remote.windows !== undefined) return readWindowsLines(remote, names.slice(0, maxServices), signal)
  const units = names.slice(0, maxServices).map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', logScript, 'observe', ...units], { signal, root: true })
  return parseLastLogLines(stdout)
}

async function readWindowsLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLogLines> {
  const linesByService = new Map<string, readonly string[]>()
  for (const name of names) {
    const lines = await Array.fromAsync(
      readWindowsLog(remote, { components: [name], lines: linesPerService }, signal),
    )
    linesByService.set(
      name,
      lines.map(({ message }) => message),
    )
  }
  return linesByService
}

export function parseLastLogLines(text: string): LastLogLines {
  const linesByService = new Map<string, string[]>()
  let current: string[] = []
  for (const line of text.split('\n')) {
    const unit = /^unit (\S+)\.service$/.exec(line)?.[1]
    if (unit !== undefined) linesByService.set(unit, (current = []))
    else if (line.startsWith('line ')) current.push(line.slice('line '.length))
  }
  return linesByService
}

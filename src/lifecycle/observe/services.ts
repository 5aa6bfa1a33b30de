import { z } from 'zod'
import type { Remote } from '../../ssh/remote.ts'
import { type HostCallResponseOf, callHost } from '../../ssh/windows/call-host.ts'
import { findHostProgram } from '../host-program.ts'
import type { HostEndpoint } from '../host-endpoints.ts'

/** A service as the service manager of its host reports it. */
export interface ServiceStatus {
  readonly name: string
  readonly state: 'active' | 'starting' | 'stopped' | 'failed' | 'missing'
  /** Number of restarts after the service ended by itself. */
  readonly restarts: number
  /** Whether the service starts with the host, if known. */
  readonly enabled?: boolean
}

export interface HostServicesObservation {
  /** Version of hyperkube on the host; undefined if not installed. */
  readonly version: string | undefined
  readonly services: readonly ServiceStatus[]
}

/** Services of a host according to its roles, in start order. */
export function listServiceNames({ etcd, api, manager, flannel, node }: HostEndpoint): string[] {
  return [
    'hyperkube-agent',
    ...(etcd ? ['etcd'] : []),
    ...(api ? ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] : []),
    ...(manager === true ? ['hyperkube-controller-manager'] : []),
    ...(node === undefined ? [] : ['containerd', 'apiserver-proxy', 'kubelet']),
    ...(flannel === true ? ['flanneld'] : []),
    ...(node === undefined ? [] : ['kube-proxy']),
  ]
}

/** Arguments: unit names. Changes nothing and needs no agent. */
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

/** The Windows service manager does not count restarts; the agent does. */
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
          : // systemd has its own state while a service restarts.
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

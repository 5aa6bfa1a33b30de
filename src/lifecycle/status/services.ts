import { z } from 'zod'
import type { Remote } from '../../ssh/remote.ts'
import { type AnswerTo, callHost } from '../../ssh/windows/call-host.ts'
import { calleeOn } from '../host-program.ts'
import type { Place } from '../host-endpoints.ts'

/** A service as the supervisor of its host sees it. */
export interface ServiceStatus {
  readonly name: string
  readonly state: 'active' | 'starting' | 'stopped' | 'failed' | 'missing'
  /** How often it was restarted because it ended by itself. */
  readonly restarts: number
  /** Whether it would start with the host, where that is known. */
  readonly enabled?: boolean
}

export interface HostServices {
  /** The release of hyperkube on the host; undefined when there is none. */
  readonly version: string | undefined
  readonly services: readonly ServiceStatus[]
}

/** Those that a host has by what it is, in the order in which they start. */
export function serviceNames({ etcd, api, manager, node }: Place): string[] {
  return [
    'hyperkube-agent',
    ...(etcd ? ['etcd'] : []),
    ...(api ? ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] : []),
    ...(manager === true ? ['hyperkube-controller-manager'] : []),
    ...(node === undefined ? [] : ['containerd', 'apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']),
  ]
}

/** Arguments: the names of services. Nothing is changed, and no agent is needed. */
const look = `
readlink /opt/hyperkube/current || echo
systemctl show --property=Id,LoadState,ActiveState,NRestarts,UnitFileState "$@"
`

export async function hostServices(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<HostServices> {
  if (remote.windows !== undefined) return windowsServices(remote, names, signal)
  const units = names.map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', look, 'look', ...units], { signal })
  const [first = '', ...rest] = stdout.split('\n')
  return {
    version: /\/hyperkube-([^/]+)$/.exec(first)?.[1],
    services: rest
      .join('\n')
      .split('\n\n')
      .filter((block) => block.trim() !== '')
      .map(serviceOf),
  }
}

async function windowsServices(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<HostServices> {
  const ask = { type: 'services', names } as const
  const { version, services } = await callHost(await calleeOn(remote, signal), ask, 'services', signal)
  return { version, services: services.map(windowsService) }
}

type WindowsService = AnswerTo<'services'>['services'][number]

/** Its manager does not count restarts, its agent does. */
function windowsService({ name, state, enabled, restarts = 0 }: WindowsService): ServiceStatus {
  return { name, state, restarts, ...(enabled === undefined ? {} : { enabled }) }
}

const unit = z.object({
  Id: z.string(),
  LoadState: z.string(),
  ActiveState: z.string(),
  NRestarts: z.coerce.number().catch(0),
  UnitFileState: z.string().default(''),
})

export function serviceOf(block: string): ServiceStatus {
  const lines = block
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  const { Id, LoadState, ActiveState, NRestarts, UnitFileState } = unit.parse(Object.fromEntries(lines))
  const state =
    LoadState === 'not-found'
      ? 'missing'
      : ActiveState === 'active'
        ? 'active'
        : ActiveState === 'failed'
          ? 'failed'
          : // Restarting is a state of systemd's own in between.
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

import type { ScmServiceSpec } from '../../contract/service.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { WindowsHost } from '../host/host.ts'
import type { ServiceState } from '../host/windows-operations/services.ts'
import {
  formatServiceSettings,
  parseProgramPath,
  toWindowsServiceSpec,
} from '../host/windows/service-control-manager.ts'
import { sha256Hex } from './planned-file.ts'
import { type ResourceHandler, wasAbsent, wasRemoved } from './resource-handler.ts'
import { waitFor } from './wait-for.ts'

/** Handler for definitions of Windows services. Starts and stops are separate ops. */
export const scmServiceHandler: ResourceHandler<'service', ScmServiceSpec, WindowsHost> = {
  target: 'service',
  findSpec: ({ service }, name) =>
    service?.supervisor === 'scm' && service.name === name ? service : undefined,

  async inspect({ name, sha256 }, { host }) {
    const current = await findScmService(host, name)
    if (current === undefined) return 'absent'
    if (current.startMode !== 'Auto') return { drift: 'not enabled at boot' }
    return sha256Hex(formatServiceSettings(current)) === sha256 ? 'as-written' : { drift: 'settings changed' }
  },

  async recordBefore(spec, { host, head, component }) {
    const current = await findScmService(host, spec.name)
    if (current !== undefined && !isOwnService(host, current)) throw serviceTaken(current, component.name)
    const sha256 = sha256Hex(formatServiceSettings(toWindowsServiceSpec(spec)))
    // A service that is missing in the ledger may already run with other settings. It then gets a pending
    // change, so that it restarts.
    const hasOtherSettings =
      current !== undefined && current.processId !== 0 && sha256Hex(formatServiceSettings(current)) !== sha256
    return {
      ...head,
      target: 'service',
      sha256,
      started: false,
      pendingChanges: hasOtherSettings ? [spec.name] : [],
    }
  },

  async make(spec, { host, head }, previous) {
    const desired = toWindowsServiceSpec(spec)
    const text = formatServiceSettings(desired)
    const current = await findScmService(host, spec.name)
    const isCurrent = current?.startMode === 'Auto' && formatServiceSettings(current) === text
    if (!isCurrent) await host.operations.services.put(desired)
    const { started = false, pendingChanges = [] } = previous ?? {}
    return {
      changed: !isCurrent,
      resource: { ...head, target: 'service', sha256: sha256Hex(text), started, pendingChanges },
    }
  },

  async remove({ name }, { host }) {
    return (await removeScmService(host, name)) ? wasRemoved : wasAbsent
  },
}

/**
 * Removes a service of hyperkube without ending its process. If the service does not run, waits until the
 * service manager has dropped it.
 */
export async function removeScmService(host: WindowsHost, name: string): Promise<boolean> {
  const current = await findScmService(host, name)
  if (current === undefined || !isOwnService(host, current)) return false
  await host.operations.services.remove({ name })
  // The service manager drops a running service only after its process has ended. The process may be this
  // agent, so do not wait for its end.
  if (current.processId !== 0) return true
  const { signal } = new AbortController()
  await waitFor(
    async () =>
      (await findScmService(host, name)) === undefined ? { found: true } : { for: `${name} to be deleted` },
    { clock: host.clock, signal, emit: () => undefined },
  )
  return true
}

async function findScmService({ operations }: WindowsHost, name: string): Promise<ServiceState | undefined> {
  return (await operations.services.list({ names: [name] }))[0]
}

/**
 * True if the service runs a program of hyperkube. The service name is not sufficient, because any software
 * may use the same name.
 */
function isOwnService({ layout }: WindowsHost, service: ServiceState): boolean {
  return parseProgramPath(service).toLowerCase().startsWith(`${layout.base.toLowerCase()}\\`)
}

function serviceTaken(current: ServiceState, component: string): HyperkubeError {
  return new HyperkubeError(
    'APPLY_SERVICE_TAKEN',
    `the host already has a foreign service ${current.name}, which runs ${parseProgramPath(current)}`,
    { component, hint: `if it is not needed, on the host: sc.exe delete ${current.name}` },
  )
}

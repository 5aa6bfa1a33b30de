import { win32 } from 'node:path'
import type { WindowsProcess } from '../host/windows-operations/system.ts'
import type { WindowsOperations } from '../host/windows-operations/table.ts'
import { parseProgramPath } from '../host/windows/service-control-manager.ts'
import type { ReconcileDeps } from './reconcile-deps.ts'
import { buildProgramPaths } from './replace-program.ts'
import {
  type ProgramObservation,
  type ReconcileState,
  type WorkerObservation,
  type WorkerProgramSpec,
  type WorkerRole,
  workerRoles,
  type WorkerServiceSpec,
  type WorkerSpec,
} from './worker.ts'

/** Observes a host once. Also returns the updated state, which the caller must keep. */
export async function observeWorker(
  deps: ReconcileDeps,
  spec: WorkerSpec,
  state: ReconcileState,
): Promise<{ readonly observed: WorkerObservation; readonly state: ReconcileState }> {
  const { host } = deps
  const desired = listDesiredServices(spec)
  const names = ['hns', ...desired.map(([, { service }]) => service.name)]
  const services = new Map((await host.services.list({ names })).map((one) => [one.name, one]))
  const digests: Record<string, ReconcileState['digests'][string]> = {}
  const programs: Partial<Record<WorkerRole, ProgramObservation>> = {}
  for (const [role, { program }] of desired) programs[role] = await observeProgram(program)
  const { overlay } = spec
  const ready = new Set(await listReadyRoles(deps, spec))
  const observed: WorkerObservation = {
    services,
    ready,
    unhealthy: deps.unhealthy ?? new Set(),
    programs,
    adapters: await host.adapters.list({}),
    routes: await host.routes.list({ destinations: ['0.0.0.0/0', ...spec.metadata] }),
    rules: await host.firewall.list({ group: spec.group }),
    networks: services.get('hns')?.state === 'Running' ? await host.networks.list({}) : undefined,
    subnet: overlay === undefined ? undefined : await deps.subnet(),
    sourceAddress:
      overlay === undefined ? undefined : await deps.addresses.findReserved(overlay.network.name),
    processes: await listServiceProcesses(host, listSuspectServices(spec, services, ready)),
  }
  const now = deps.clock.now().getTime()
  const stoppingSince = listStoppingServices(spec, services).map(
    ([role]) => [role, state.stopping[role] ?? now] as const,
  )
  const found = new Set(observed.routes.map(({ destination }) => destination))
  const routesBefore = state.routesBefore ?? spec.metadata.filter((one) => found.has(one))
  return { observed, state: { ...state, stopping: Object.fromEntries(stoppingSince), digests, routesBefore } }

  async function observeProgram({ path }: WorkerProgramSpec): Promise<ProgramObservation> {
    const { staged, previous } = buildProgramPaths({ path })
    return {
      target: await readDigest(path),
      staged: await readDigest(staged),
      previous: await readDigest(previous),
    }
  }

  /**
   * Computes the digest of a file, or reuses the known one if size and modification time have not changed.
   */
  async function readDigest(path: string): Promise<string | undefined> {
    const facts = await host.files.stat({ path })
    if (facts?.kind !== 'file') return undefined
    const stamp = `${facts.size} ${facts.modified}`
    const known = state.digests[path]
    const sha256 = known?.stamp === stamp ? known.sha256 : await host.files.digest({ path })
    if (sha256 !== undefined) digests[path] = { stamp, sha256 }
    return sha256
  }
}

async function listReadyRoles(deps: ReconcileDeps, spec: WorkerSpec): Promise<readonly WorkerRole[]> {
  const results = listDesiredServices(spec).map(async ([role]) => ((await deps.isReady(role)) ? [role] : []))
  return (await Promise.all(results)).flat()
}

/**
 * Lists programs before their wrappers. If the wrapper of a listed program is not in the later list, the
 * wrapper has ended and the program is orphaned. In the other order, the program could have been started
 * between the two listings.
 */
async function listServiceProcesses(
  host: WindowsOperations,
  services: readonly WorkerServiceSpec[],
): Promise<WorkerObservation['processes']> {
  const directories = [
    ...services.map(({ program }) => program.path),
    ...services.map(({ service }) => parseProgramPath(service)),
  ].map((path) => win32.dirname(path))
  const found: WindowsProcess[] = []
  for (const below of new Set(directories)) found.push(...(await host.processes.list({ below })))
  return found
}

/**
 * Returns the services that do not run or are not ready. Only their processes are listed, because listing
 * processes is slow.
 */
function listSuspectServices(
  spec: WorkerSpec,
  services: WorkerObservation['services'],
  ready: WorkerObservation['ready'],
): readonly WorkerServiceSpec[] {
  return listDesiredServices(spec).flatMap(([role, desired]) =>
    services.get(desired.service.name)?.state === 'Running' && ready.has(role) ? [] : [desired],
  )
}

function listStoppingServices(
  spec: WorkerSpec,
  services: WorkerObservation['services'],
): readonly (readonly [WorkerRole, WorkerServiceSpec])[] {
  return listDesiredServices(spec).filter(
    ([, { service }]) => services.get(service.name)?.state === 'Stop Pending',
  )
}

function listDesiredServices({
  services,
}: WorkerSpec): readonly (readonly [WorkerRole, WorkerServiceSpec])[] {
  return workerRoles.flatMap((role) => {
    const desired = services[role]
    return desired === undefined ? [] : [[role, desired] as const]
  })
}

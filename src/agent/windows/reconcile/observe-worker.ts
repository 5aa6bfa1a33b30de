import { win32 } from 'node:path'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { HostProcess } from '../operations/processes.ts'
import type { WorkerEdges } from './reconcile-deps.ts'
import { programIn } from '../scm/service-spec.ts'
import { placesOf } from './replace-program.ts'
import type { ProgramSeen, Seen, WorkerMemory } from './worker-observation.ts'
import { allRoles, type ProgramWish, type Role, type WorkerService, type WorkerWish } from './worker-spec.ts'

/** One look at a host, and what there is to remember of it. */
export async function look(
  edges: WorkerEdges,
  wish: WorkerWish,
  memory: WorkerMemory,
): Promise<{ readonly seen: Seen; readonly memory: WorkerMemory }> {
  const { host } = edges
  const wished = servicesIn(wish)
  const names = ['hns', ...wished.map(([, { service }]) => service.name)]
  const services = new Map((await host.services.list({ names })).map((one) => [one.name, one]))
  const digests: Record<string, WorkerMemory['digests'][string]> = {}
  const programs: Partial<Record<Role, ProgramSeen>> = {}
  for (const [role, { program }] of wished) programs[role] = await programOf(program)
  const { overlay } = wish
  const ready = new Set(await readyOf(edges, wish))
  const seen: Seen = {
    services,
    ready,
    unwell: edges.unwell ?? new Set(),
    programs,
    adapters: await host.adapters.list({}),
    routes: await host.routes.list({ destinations: ['0.0.0.0/0', ...wish.metadata] }),
    rules: await host.firewall.list({ group: wish.group }),
    networks: services.get('hns')?.state === 'Running' ? await host.networks.list({}) : undefined,
    subnet: overlay === undefined ? undefined : await edges.subnet(),
    sourceAddress: overlay === undefined ? undefined : await edges.addresses.reserved(overlay.network.name),
    processes: await processesOf(host, doubtful(wish, services, ready)),
  }
  const now = edges.clock.now().getTime()
  const slow = slowOnes(wish, services).map(([role]) => [role, memory.stopping[role] ?? now] as const)
  const found = new Set(seen.routes.map(({ destination }) => destination))
  const routesBefore = memory.routesBefore ?? wish.metadata.filter((one) => found.has(one))
  return { seen, memory: { ...memory, stopping: Object.fromEntries(slow), digests, routesBefore } }

  async function programOf({ path }: ProgramWish): Promise<ProgramSeen> {
    const { staged, aside } = placesOf({ path })
    return { target: await digestOf(path), staged: await digestOf(staged), aside: await digestOf(aside) }
  }

  /** Of a file that is as it was, the one that is known. */
  async function digestOf(path: string): Promise<string | undefined> {
    const facts = await host.files.stat({ path })
    if (facts?.kind !== 'file') return undefined
    const stamp = `${facts.size} ${facts.modified}`
    const known = memory.digests[path]
    const sha256 = known?.stamp === stamp ? known.sha256 : await host.files.digest({ path })
    if (sha256 !== undefined) digests[path] = { stamp, sha256 }
    return sha256
  }
}

async function readyOf(edges: WorkerEdges, wish: WorkerWish): Promise<readonly Role[]> {
  const answers = servicesIn(wish).map(async ([role]) => ((await edges.isReady(role)) ? [role] : []))
  return (await Promise.all(answers)).flat()
}

/** Programs before their runners: whoever was started by one that is not found after it has lost it. */
async function processesOf(
  host: WindowsOperations,
  services: readonly WorkerService[],
): Promise<Seen['processes']> {
  const directories = [
    ...services.map(({ program }) => program.path),
    ...services.map(({ service }) => programIn(service)),
  ].map((path) => win32.dirname(path))
  const found: HostProcess[] = []
  for (const below of new Set(directories)) found.push(...(await host.processes.list({ below })))
  return found
}

/** Those with which something is not as it should be: to look at all processes takes a while. */
function doubtful(
  wish: WorkerWish,
  services: Seen['services'],
  ready: Seen['ready'],
): readonly WorkerService[] {
  return servicesIn(wish).flatMap(([role, wished]) =>
    services.get(wished.service.name)?.state === 'Running' && ready.has(role) ? [] : [wished],
  )
}

function slowOnes(wish: WorkerWish, services: Seen['services']): readonly (readonly [Role, WorkerService])[] {
  return servicesIn(wish).filter(([, { service }]) => services.get(service.name)?.state === 'Stop Pending')
}

function servicesIn({ services }: WorkerWish): readonly (readonly [Role, WorkerService])[] {
  return allRoles.flatMap((role) => {
    const wished = services[role]
    return wished === undefined ? [] : [[role, wished] as const]
  })
}

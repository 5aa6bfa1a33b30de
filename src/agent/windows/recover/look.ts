import { win32 } from 'node:path'
import type { WindowsHost } from '../operations/host.ts'
import type { WorkerEdges } from './edges.ts'
import { placesOf } from './replace.ts'
import type { ProgramSeen, Seen, WorkerMemory } from './seen.ts'
import { type Role, roles, type WorkerWish } from './wish.ts'

/** One look at a host, and what there is to remember of it. */
export async function look(
  edges: WorkerEdges,
  wish: WorkerWish,
  memory: WorkerMemory,
): Promise<{ readonly seen: Seen; readonly memory: WorkerMemory }> {
  const { host } = edges
  const names = ['hns', ...roles.map((role) => wish.services[role].service.name)]
  const services = new Map((await host.services.list({ names })).map((one) => [one.name, one]))
  const digests: Record<string, WorkerMemory['digests'][string]> = {}
  const programs = {
    containerd: await programOf('containerd'),
    kubelet: await programOf('kubelet'),
    flanneld: await programOf('flanneld'),
    'kube-proxy': await programOf('kube-proxy'),
  }
  const seen: Seen = {
    services,
    ready: new Set(await readyOf(edges)),
    programs,
    adapters: await host.adapters.list({}),
    routes: await host.routes.list({ destinations: ['0.0.0.0/0', ...wish.metadata] }),
    rules: await host.firewall.list({ group: wish.group }),
    networks: services.get('hns')?.state === 'Running' ? await host.networks.list({}) : undefined,
    subnet: await edges.subnet(),
    sourceAddress: await edges.addresses.reserved(wish.network.name),
    processes: await stopping(host, wish, services),
  }
  const now = edges.clock.now().getTime()
  const slow = slowOnes(wish, services).map((role) => [role, memory.stopping[role] ?? now] as const)
  return { seen, memory: { ...memory, stopping: Object.fromEntries(slow), digests } }

  async function programOf(role: Role): Promise<ProgramSeen> {
    const { path } = wish.services[role].program
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

async function readyOf(edges: WorkerEdges): Promise<readonly Role[]> {
  const answers = await Promise.all(roles.map(async (role) => ((await edges.isReady(role)) ? [role] : [])))
  return answers.flat()
}

async function stopping(
  host: WindowsHost,
  wish: WorkerWish,
  services: Seen['services'],
): Promise<Seen['processes']> {
  const found = await Promise.all(
    slowOnes(wish, services).map(async (role) =>
      host.processes.list({ below: win32.dirname(wish.services[role].program.path) }),
    ),
  )
  return found.flat()
}

function slowOnes({ services: wanted }: WorkerWish, services: Seen['services']): readonly Role[] {
  return roles.filter((role) => services.get(wanted[role].service.name)?.state === 'Stop Pending')
}

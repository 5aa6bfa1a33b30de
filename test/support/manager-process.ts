import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'

/** A controller manager on a host: hyperkube's, or that of Kubernetes. Each has a lease of its own name. */
export interface ManagerProcess {
  readonly service: string
  /** A script that prints `ok` when it says that it is well. */
  readonly health: string
  /** A script that prints its figures. */
  readonly metrics: string
  /** Whether its lease has to be taken from one that has ended, because it does not give it back. */
  readonly keepsLease: boolean
}

export const ownManager: ManagerProcess = {
  service: 'hyperkube-controller-manager',
  health: 'curl -s -m 5 http://127.0.0.1:6447/readyz',
  metrics: 'curl -s -m 5 http://127.0.0.1:6447/metrics',
  keepsLease: false,
}

/** Its figures are only for those who may read them: with what is in this directory. */
export function upstreamManager(directory: string): ManagerProcess {
  const address = 'https://127.0.0.1:10257'
  const identity = `--cert ${directory}/client.crt --key ${directory}/client.key`
  return {
    service: 'kube-controller-manager',
    health: `curl -sk -m 5 ${address}/healthz`,
    metrics: `curl -sk -m 5 ${identity} ${address}/metrics`,
    keepsLease: true,
  }
}

/** What a process takes. */
export interface ProcessCost {
  /** In bytes: now, and the most since it began. */
  readonly resident: number
  readonly peak: number
  /** Of one core: 0.01 is a hundredth. */
  readonly cpuShare: number
}

/** Looks at processes for so long, at all at the same time. */
export async function costsOf(
  host: Host,
  processes: readonly ManagerProcess[],
  milliseconds: number,
): Promise<ProcessCost[]> {
  const look = async (): Promise<Usage[]> => {
    const all: Usage[] = []
    for (const { service } of processes) all.push(await usageOf(host, service))
    return all
  }
  const before = await look()
  await sleep(milliseconds)
  const after = await look()
  return after.map(({ pid, cpu, at, resident, peak }, index) => {
    const first = before[index]
    if (first?.pid !== pid) throw new Error(`${processes[index]?.service} was started anew meanwhile`)
    return { resident, peak, cpuShare: (cpu - first.cpu) / (at - first.at) }
  })
}

/** Three looks in a row, half a second apart. */
const quietLooks = 3
/** Of one core. While it reads all that there is, it takes more. */
const quietShare = 0.5

/**
 * Starts one anew, with nobody else's lease in its way. Milliseconds until it says that it is well, leads, has nothing
 * in its queues and takes little of a processor, and stays so.
 */
export async function timeToSync(
  host: Host,
  api: KubeApi,
  manager: ManagerProcess,
  signal: AbortSignal,
): Promise<number> {
  const { service, health, metrics, keepsLease } = manager
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${service}`
  const before = holderIn(await api.get(path))
  await host.exec(['systemctl', 'stop', service])
  if (keepsLease) await api.remove(path)
  const began = performance.now()
  await host.exec(['systemctl', 'start', service])
  let [quiet, since] = [0, 0]
  let last: Usage | undefined
  return until(
    `${service} to know all`,
    async () => {
      const at = performance.now() - began
      const { stdout } = await host.script(
        `${health}; echo; ${metrics} | grep -E '^(workqueue_depth|hyperkube_informer_synced)' || true`,
      )
      const now = await usageOf(host, service)
      const share = last?.pid === now.pid ? (now.cpu - last.cpu) / (now.at - last.at) : 1
      last = now
      const holder = holderIn(await api.get(path))
      const isQuiet = isSynced(stdout) && share < quietShare && holder !== '' && holder !== before
      if (!isQuiet) quiet = 0
      else if (quiet++ === 0) since = at
      return quiet >= quietLooks && since
    },
    { within: 180_000, every: 500, signal },
  )
}

/** Well, with queues that are all empty; ours says by itself of each kind whether it knows all. */
function isSynced(text: string): boolean {
  const [health, ...lines] = text.trim().split('\n')
  const values = lines.map((line) => [line.startsWith('workqueue_depth'), Number(line.split(' ').at(-1))])
  return health === 'ok' && values.length > 0 && values.every(([depth, value]) => value === (depth ? 0 : 1))
}

const lease = z.object({ spec: z.object({ holderIdentity: z.string().nullish() }) })

function holderIn(object: unknown): string {
  return lease.parse(object).spec.holderIdentity ?? ''
}

interface Usage {
  readonly pid: number
  /** Milliseconds of processors, and when that was. */
  readonly cpu: number
  readonly at: number
  readonly resident: number
  readonly peak: number
}

async function usageOf(host: Host, service: string): Promise<Usage> {
  const { stdout } = await host.script(
    `pid=$(systemctl show -P MainPID ${service})\necho $pid $(getconf CLK_TCK)\ncat /proc/$pid/stat /proc/$pid/status`,
  )
  const [head = '', stat = ''] = stdout.split('\n')
  const [pid = 0, ticks = 0] = head.split(' ').map(Number)
  // Behind the name, which may be anything: the twelfth and the thirteenth are its own time.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(stdout)?.[1]) * 1024
  return {
    ...{ pid, cpu: ((user + system) * 1000) / ticks, at: performance.now() },
    ...{ resident: bytes('VmRSS'), peak: bytes('VmHWM') },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'

/**
 * A controller manager on a host: hyperkube's or Kubernetes' own. Its lease has the same name as its service.
 */
export interface ManagerProcess {
  readonly service: string
  /** Script that prints `ok` if the manager is healthy. */
  readonly health: string
  /** Script that prints the metrics of the manager. */
  readonly metrics: string
  /** True if the manager does not release its lease on exit, so the test must delete the lease. */
  readonly keepsLease: boolean
}

export const ownManager: ManagerProcess = {
  service: 'hyperkube-controller-manager',
  health: 'curl -s -m 5 http://127.0.0.1:6447/readyz',
  metrics: 'curl -s -m 5 http://127.0.0.1:6447/metrics',
  keepsLease: false,
}

/** The manager of Kubernetes. Its metrics need the client certificate in `directory`. */
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

/** Resource use of a process. */
export interface ProcessCost {
  /** Resident memory in bytes: current, and the peak since the process started. */
  readonly resident: number
  readonly peak: number
  /** Share of one core: 0.01 is one percent. */
  readonly cpuShare: number
}

/** Measures all managers over the same period. */
export async function measureCosts(
  host: Host,
  processes: readonly ManagerProcess[],
  durationMs: number,
): Promise<ProcessCost[]> {
  const measure = async (): Promise<Usage[]> => {
    const all: Usage[] = []
    for (const { service } of processes) all.push(await readUsage(host, service))
    return all
  }
  const before = await measure()
  await sleep(durationMs)
  const after = await measure()
  return after.map(({ pid, cpu, at, resident, peak }, index) => {
    const first = before[index]
    if (first?.pid !== pid) throw new Error(`${processes[index]?.service} was restarted meanwhile`)
    return { resident, peak, cpuShare: (cpu - first.cpu) / (at - first.at) }
  })
}

/** A manager must be quiet in this number of consecutive checks, half a second apart. */
const quietChecks = 3
/**
 * A manager that uses less than this share of one core counts as quiet. During its initial list it uses more.
 */
const quietShare = 0.5

/**
 * Restarts a manager while its lease is free. Returns the milliseconds until it leads, is healthy, has empty
 * queues and stays quiet.
 */
export async function measureSyncTime(
  host: Host,
  api: KubeApi,
  manager: ManagerProcess,
  signal: AbortSignal,
): Promise<number> {
  const { service, health, metrics, keepsLease } = manager
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${service}`
  const before = readHolder(await api.get(path))
  await host.exec(['systemctl', 'stop', service])
  if (keepsLease) await api.remove(path)
  const began = performance.now()
  await host.exec(['systemctl', 'start', service])
  let [quiet, since] = [0, 0]
  let last: Usage | undefined
  return pollUntil(
    `${service} to sync`,
    async () => {
      const at = performance.now() - began
      const { stdout } = await host.script(
        `${health}; echo; ${metrics} | grep -E '^(workqueue_depth|hyperkube_informer_synced)' || true`,
      )
      const now = await readUsage(host, service)
      const share = last?.pid === now.pid ? (now.cpu - last.cpu) / (now.at - last.at) : 1
      last = now
      const holder = readHolder(await api.get(path))
      const isQuiet = isSynced(stdout) && share < quietShare && holder !== '' && holder !== before
      if (!isQuiet) quiet = 0
      else if (quiet++ === 0) since = at
      return quiet >= quietChecks && since
    },
    { timeoutMs: 180_000, intervalMs: 500, signal },
  )
}

/**
 * True if the manager is healthy, its queues are empty and, for hyperkube's manager, all informers have
 * synced.
 */
function isSynced(text: string): boolean {
  const [health, ...lines] = text.trim().split('\n')
  const values = lines.map((line) => [line.startsWith('workqueue_depth'), Number(line.split(' ').at(-1))])
  return health === 'ok' && values.length > 0 && values.every(([depth, value]) => value === (depth ? 0 : 1))
}

const lease = z.object({ spec: z.object({ holderIdentity: z.string().nullish() }) })

function readHolder(object: unknown): string {
  return lease.parse(object).spec.holderIdentity ?? ''
}

interface Usage {
  readonly pid: number
  /** CPU time in milliseconds, and the time of the measurement. */
  readonly cpu: number
  readonly at: number
  readonly resident: number
  readonly peak: number
}

async function readUsage(host: Host, service: string): Promise<Usage> {
  const { stdout } = await host.script(
    `pid=$(systemctl show -P MainPID ${service})\necho $pid $(getconf CLK_TCK)\ncat /proc/$pid/stat /proc/$pid/status`,
  )
  const [head = '', stat = ''] = stdout.split('\n')
  const [pid = 0, ticks = 0] = head.split(' ').map(Number)
  // The process name may contain spaces, so fields are counted after it. Fields 12 and 13 are user and system
  // time.
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

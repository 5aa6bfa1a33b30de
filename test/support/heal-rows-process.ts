import type { Host } from '../../lab/hosts/host.ts'
import { isWorking } from './heal-components.ts'
import { type Component, components, selectHosts, type HealRow, workers } from './heal-row.ts'
import type { HealCluster } from './heal-cluster.ts'

const noop = async (): Promise<void> => undefined

/** Codes of findings about hung processes, for components that do not use the default codes. */
const silentCodes: Readonly<Partial<Record<Component, readonly string[]>>> = {
  containerd: ['HEALTH_NO_RESPONSE', 'RUNTIME_NOT_READY'],
}

/** Components that agents report as hung only after a longer time than others. */
const slowToDetect: ReadonlySet<Component> = new Set(['etcd', 'kube-apiserver'])

/** Faults of processes. Each of the eight components is killed and paused. */
export const processRows: readonly HealRow[] = [
  ...components.map(buildKillRow),
  ...components.map(buildHangRow),
  {
    id: 'shim-killed',
    what: 'the shim of a pod SIGKILL',
    expects: 'heals',
    hosts: workers,
    runs: 5,
    codes: [],
    timeoutMs: 90_000,
    clients: 'there',
    runWithoutAgents: true,
    seconds: 20,
    inject: async (_cluster, host) => void (await host.script(killShim)),
    undo: noop,
    isHealed: isShopRestored,
  },
]

function buildKillRow(component: Component): HealRow {
  return {
    id: `kill-${component}`,
    what: `${component} SIGKILL`,
    expects: 'heals',
    hosts: selectHosts(component),
    runs: 5,
    codes: [],
    component,
    timeoutMs: 90_000,
    clients: 'there',
    runWithoutAgents: true,
    seconds: 14,
    inject: async (_cluster, host) => killProcess(host, component),
    undo: noop,
    isHealed: async (cluster, host) => isWorking(cluster, host, component),
  }
}

function buildHangRow(component: Component): HealRow {
  return {
    id: `stop-${component}`,
    what: component === 'containerd' ? 'containerd SIGSTOP: it hangs' : `${component} SIGSTOP`,
    expects: 'heals',
    hosts: selectHosts(component),
    runs: 5,
    codes: silentCodes[component] ?? ['HEALTH_NO_RESPONSE'],
    component,
    timeoutMs: 180_000,
    clients: 'there',
    runWithoutAgents: true,
    seconds: slowToDetect.has(component) ? 70 : 42,
    inject: async (_cluster, host) => pauseProcess(host, component),
    undo: async (_cluster, host) => resumeProcess(host, component),
    isHealed: async (cluster, host) => isWorking(cluster, host, component),
  }
}

/** Kills the process of a service with SIGKILL. */
export async function killProcess(host: Host, service: string): Promise<void> {
  await host.script(`${buildPidScript(service)}
    kill -KILL $pid
    ${buildWaitScript('[ ! -d /proc/$pid ] || grep -q "^State:.Z" /proc/$pid/status')}`)
}

/** Pauses the process of a service with SIGSTOP. */
export async function pauseProcess(host: Host, service: string): Promise<void> {
  await host.script(`${buildPidScript(service)}
    kill -STOP $pid
    ${buildWaitScript('grep -q "^State:.T" /proc/$pid/status')}`)
}

/** Resumes the process of a service with SIGCONT, which has no effect on a running process. */
export async function resumeProcess(host: Host, service: string): Promise<void> {
  await host.script(`pid=$(systemctl show -P MainPID ${service})
    [ "$pid" = 0 ] || kill -CONT $pid`)
}

function buildPidScript(service: string): string {
  return `pid=$(systemctl show -P MainPID ${service})
    [ "$pid" -gt 1 ]`
}

/** Script that succeeds once a condition holds, and fails after three seconds. */
export function buildWaitScript(condition: string): string {
  return `for turn in $(seq 30); do if ${condition}; then exit 0; fi; sleep 0.1; done; exit 1`
}

/** Command that lists the ready pods of the test application (app=shop) on a host. */
const shopPods = '/opt/hyperkube/crictl-*/crictl pods --label app=shop --state Ready -q --no-trunc'

/** Script that kills the shim of one pod of the test application. */
const killShim = `
pod=$(${shopPods} | head -n 1)
[ -n "$pod" ]
for process in /proc/[0-9]*; do
  if tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -q "containerd-shim.* -id $pod "; then pid=\${process#/proc/}; fi
done
echo $pod > /root/heal-shim
${shopPods} | wc -l > /root/heal-pods
kill -KILL $pid
${buildWaitScript('[ ! -d /proc/$pid ]')}`

/** True if the pod whose shim was killed is replaced and all four pods are available. */
async function isShopRestored(cluster: HealCluster, host: Host): Promise<boolean> {
  const replaced = `pods=$(${shopPods})
    [ "$(echo "$pods" | wc -l)" = "$(cat /root/heal-pods)" ]
    ! echo "$pods" | grep -q "$(cat /root/heal-shim)"`
  if (!(await cluster.scriptSucceeds(host, replaced))) return false
  const { status } = await cluster
    .getApiOfOther(host)
    .get<{ status: { availableReplicas?: number } }>('/apis/apps/v1/namespaces/default/deployments/shop')
  return status.availableReplicas === 4
}

import type { Host } from '../../lab/hosts/host.ts'
import { works } from './heal-components.ts'
import { type Component, components, hostsOf, type HealRow, workers } from './heal-row.ts'
import type { HealScene } from './heal-cluster.ts'

const nothing = async (): Promise<void> => undefined

/** What alive and silent processes are called; some of them have words of their own for it. */
const silent: Readonly<Partial<Record<Component, readonly string[]>>> = {
  containerd: ['HEALTH_NO_ANSWER', 'RUNTIME_NOT_READY'],
}

/** Those that are given more time before they count as hung. */
const slow: ReadonlySet<Component> = new Set(['etcd', 'kube-apiserver'])

/** What happens to processes: each of the eight dies, and each hangs. */
export const processRows: readonly HealRow[] = [
  ...components.map(killed),
  ...components.map(hung),
  {
    id: 'shim-killed',
    what: 'the shim of a pod SIGKILL',
    expects: 'heals',
    hosts: workers,
    runs: 5,
    codes: [],
    within: 90_000,
    clients: 'there',
    alone: true,
    seconds: 20,
    inject: async (_scene, host) => void (await host.script(killShim)),
    undo: nothing,
    healed: shopIsWhole,
  },
]

function killed(component: Component): HealRow {
  return {
    id: `kill-${component}`,
    what: `${component} SIGKILL`,
    expects: 'heals',
    hosts: hostsOf(component),
    runs: 5,
    codes: [],
    component,
    within: 90_000,
    clients: 'there',
    alone: true,
    seconds: 14,
    inject: async (_scene, host) => kill(host, component),
    undo: nothing,
    healed: async (scene, host) => works(scene, host, component),
  }
}

function hung(component: Component): HealRow {
  return {
    id: `stop-${component}`,
    what: component === 'containerd' ? 'containerd SIGSTOP: it hangs' : `${component} SIGSTOP`,
    expects: 'heals',
    hosts: hostsOf(component),
    runs: 5,
    codes: silent[component] ?? ['HEALTH_NO_ANSWER'],
    component,
    within: 180_000,
    clients: 'there',
    alone: true,
    seconds: slow.has(component) ? 70 : 42,
    inject: async (_scene, host) => stop(host, component),
    undo: async (_scene, host) => goOn(host, component),
    healed: async (scene, host) => works(scene, host, component),
  }
}

/** Its process dies without a word. */
export async function kill(host: Host, service: string): Promise<void> {
  await host.script(`${processOf(service)}
    kill -KILL $pid
    ${soon('[ ! -d /proc/$pid ] || grep -q "^State:.Z" /proc/$pid/status')}`)
}

/** Its process is there and does nothing any more. */
export async function stop(host: Host, service: string): Promise<void> {
  await host.script(`${processOf(service)}
    kill -STOP $pid
    ${soon('grep -q "^State:.T" /proc/$pid/status')}`)
}

/** Whichever process it has by now: to one that runs, this says nothing. */
export async function goOn(host: Host, service: string): Promise<void> {
  await host.script(`pid=$(systemctl show -P MainPID ${service})
    [ "$pid" = 0 ] || kill -CONT $pid`)
}

function processOf(service: string): string {
  return `pid=$(systemctl show -P MainPID ${service})
    [ "$pid" -gt 1 ]`
}

/** Ends a script well once something is so, and badly when it is not in three seconds. */
export function soon(condition: string): string {
  return `for turn in $(seq 30); do if ${condition}; then exit 0; fi; sleep 0.1; done; exit 1`
}

/** Those of the shop that live on a host. */
const shopPods = '/opt/hyperkube/crictl-*/crictl pods --label app=shop --state Ready -q --no-trunc'

/** Of one pod of the shop, and only that. */
const killShim = `
pod=$(${shopPods} | head -n 1)
[ -n "$pod" ]
for process in /proc/[0-9]*; do
  if tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -q "containerd-shim.* -id $pod "; then pid=\${process#/proc/}; fi
done
echo $pod > /root/heal-shim
${shopPods} | wc -l > /root/heal-pods
kill -KILL $pid
${soon('[ ! -d /proc/$pid ]')}`

/** What has lost its shim is not taken for alive, there is another in its place, and all four have visitors. */
async function shopIsWhole(scene: HealScene, host: Host): Promise<boolean> {
  const replaced = `pods=$(${shopPods})
    [ "$(echo "$pods" | wc -l)" = "$(cat /root/heal-pods)" ]
    ! echo "$pods" | grep -q "$(cat /root/heal-shim)"`
  if (!(await scene.holds(host, replaced))) return false
  const { status } = await scene
    .apiBeside(host)
    .get<{ status: { availableReplicas?: number } }>('/apis/apps/v1/namespaces/default/deployments/shop')
  return status.availableReplicas === 4
}

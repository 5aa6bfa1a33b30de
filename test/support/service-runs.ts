import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'

/** Invocation id and automatic restart count of every hyperkube service, by host and unit. */
export type ServiceRuns = ReadonlyMap<string, ServiceRun>

export interface ServiceRun {
  readonly invocation: string
  readonly restarts: number
}

const listUnitsScript = `for file in $(grep -ls /opt/hyperkube /etc/systemd/system/*.service); do
  unit=$(basename $file .service)
  echo "$unit $(systemctl show -P InvocationID $unit) $(systemctl show -P NRestarts $unit)"
done`

export async function readServiceRuns(hosts: readonly Host[]): Promise<ServiceRuns> {
  const all = await settleAll(
    hosts.map(async (host) => {
      const { stdout } = await host.script(listUnitsScript)
      return stdout
        .split('\n')
        .map((line) => line.split(' '))
        .flatMap(([unit = '', invocation = '', restarts = '0']) =>
          unit === '' ? [] : [[`${host.name} ${unit}`, { invocation, restarts: Number(restarts) }] as const],
        )
    }),
  )
  return new Map(all.flat())
}

/** Services that exit when they lose their lease or cannot renew it. Such restarts are normal. */
const leaders = ['kube-controller-manager', 'kube-scheduler', 'hyperkube-controller-manager']

export interface ServiceRestarts {
  /** Restarted services that do not use leader election. */
  readonly others: readonly string[]
  /** Number of restarts of services that use leader election. */
  readonly leaders: number
}

export function compareServiceRuns(before: ServiceRuns, after: ServiceRuns): ServiceRestarts {
  const changed = [...before].flatMap(([name, previous]) => {
    const current = after.get(name)
    return current?.invocation === previous.invocation
      ? []
      : [{ name, times: (current?.restarts ?? 0) - previous.restarts }]
  })
  const isLeader = ({ name }: { readonly name: string }): boolean =>
    leaders.some((leader) => name.endsWith(` ${leader}`))
  return {
    others: changed.filter((one) => !isLeader(one)).map(({ name }) => name),
    // A changed invocation id counts as at least one restart, because a manual start resets the counter.
    leaders: changed.filter(isLeader).reduce((total, { times }) => total + Math.max(1, times), 0),
  }
}

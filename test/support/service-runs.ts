import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/settle-all.ts'

/** By host and unit, which run of it there is, and how often systemd has started it by itself. */
export type ServiceRuns = ReadonlyMap<string, ServiceRun>

export interface ServiceRun {
  readonly invocation: string
  readonly restarts: number
}

const ours = `for file in $(grep -ls /opt/hyperkube /etc/systemd/system/*.service); do
  unit=$(basename $file .service)
  echo "$unit $(systemctl show -P InvocationID $unit) $(systemctl show -P NRestarts $unit)"
done`

export async function serviceRuns(hosts: readonly Host[]): Promise<ServiceRuns> {
  const all = await settleAll(
    hosts.map(async (host) => {
      const { stdout } = await host.script(ours)
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

/** Upstream's own doing: whoever leads ends when its lease is lost, and so does whoever cannot ask for one. Ours ends so, too. */
const leaders = ['kube-controller-manager', 'kube-scheduler', 'hyperkube-controller-manager']

export interface Disturbed {
  /** Services that began anew. */
  readonly others: readonly string[]
  /** How often those that lead, or would like to, have ended and were started by systemd. */
  readonly leaders: number
}

export function disturbed(before: ServiceRuns, after: ServiceRuns): Disturbed {
  const changed = [...before].flatMap(([name, was]) => {
    const is = after.get(name)
    return is?.invocation === was.invocation ? [] : [{ name, times: (is?.restarts ?? 0) - was.restarts }]
  })
  const leads = ({ name }: { readonly name: string }): boolean =>
    leaders.some((leader) => name.endsWith(` ${leader}`))
  return {
    others: changed.filter((one) => !leads(one)).map(({ name }) => name),
    // Somebody who has started it by hand has set the count to nothing.
    leaders: changed.filter(leads).reduce((total, { times }) => total + Math.max(1, times), 0),
  }
}

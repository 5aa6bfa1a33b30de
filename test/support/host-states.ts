import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'

/** Scripts that print one part of the state of a host each, by the title of the part. */
export type StateScripts = Readonly<Record<string, string>>
export type HostState = Readonly<Record<string, string>>

/** Files, users and units of a host, which `adopt` must not change and `adopt rollback` must restore. */
export const settingsStates: StateScripts = {
  'digests of files in /etc, /opt, /usr/local, /root and /home, and of the settings of kubelets':
    'find /etc /opt /usr/local /root /home /var/lib/hyperkube /var/lib/kubelet/config.yaml /var/lib/kubelet/pki -xdev -type f -exec sha256sum {} + 2>/dev/null | sort -k2',
  'paths, owners and modes':
    "find / -xdev \\( -path /proc -o -path /sys -o -path /tmp -o -path /run -o -path /var/log -o -path /var/lib/etcd -o -path /var/lib/kubelet -o -path /var/lib/containerd -o -path '/var/lib/systemd/*' -o -path '/var/tmp/systemd-private-*' \\) -prune -o -printf '%p %u:%g %m %y\\n' | sort",
  'users and groups': 'cat /etc/passwd /etc/group',
  'systemd units':
    'systemctl list-unit-files --no-legend --plain; systemctl list-units --type=service --no-legend --plain --state=active | grep -Ev "^(user|session)" | sort',
}

/** Running programs of a host, which `adopt` must not change. */
export const programStates: StateScripts = {
  'processes of components':
    "ps -eo lstart,args | grep -E '[k]ube|[e]tcd |[c]ontainerd |[f]lanneld' | grep -v shim | sort",
  containers: 'ctr -n k8s.io containers list -q | sort; ctr -n k8s.io images list -q | sort',
  'links and routes': 'ip -o link | cut -d: -f2 | sort; ip route',
  mounts: "cut -d' ' -f5 /proc/self/mountinfo | grep -v '^/run/user' | sort",
}

/** Reads the states of hosts, by host name. */
export async function readStates(
  hosts: readonly Host[],
  scripts: StateScripts,
): Promise<ReadonlyMap<string, HostState>> {
  const read = async (host: Host): Promise<readonly [string, HostState]> => {
    const entries: [string, string][] = []
    for (const [title, script] of Object.entries(scripts))
      entries.push([title, (await host.script(script, { allowFailure: true })).stdout])
    return [host.name, Object.fromEntries(entries)]
  }
  return new Map(await settleAll(hosts.map(read)))
}

/** Lists the lines that only one of two states has, each with the host and the title. */
export function compareStates(
  before: ReadonlyMap<string, HostState>,
  after: ReadonlyMap<string, HostState>,
): readonly string[] {
  return [...before].flatMap(([host, state]) =>
    Object.entries(state).flatMap(([title, text]) => {
      const [previous, current] = [text, after.get(host)?.[title] ?? ''].map((one) => one.split('\n'))
      const list = (
        sign: string,
        lines: readonly string[] = [],
        others: readonly string[] = [],
      ): string[] => {
        const known = new Set(others)
        return lines.filter((line) => !known.has(line)).map((line) => `${host}: ${title}: ${sign} ${line}`)
      }
      return [...list('-', previous, current), ...list('+', current, previous)]
    }),
  )
}

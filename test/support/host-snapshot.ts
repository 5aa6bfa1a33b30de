import type { Machine } from '../../lab/hosts/machine.ts'
/** What somebody finds who looks everywhere. */
export interface HostSnapshot {
  readonly files: readonly string[]
  readonly users: string
  readonly units: string
  readonly links: string
  readonly tables: string
  readonly chains: string
  readonly settings: string
  readonly mounts: string
}

/** Everything on the host but what belongs to whoever looks: logs, caches, and copies of lists of users. */
export async function snapshot(host: Machine): Promise<HostSnapshot> {
  const of = async (script: string): Promise<string> => (await host.script(script)).stdout
  const files = await of(
    `find / /var/lib/etcd /var/lib/kubelet /var/lib/containerd -xdev \\( -path /var/log/journal -o -path /tmp -o -path /var/tmp -o -path /root \\) -prune -o ! -name 'passwd*' ! -name 'group*' ! -name '*shadow*' ! -name '.pwd.lock' ! -path '/etc/sub?id*' ! -path '/var/log/*tmp' ! -path /var/log/lastlog ! -path /var/log/faillog -printf '%p %u:%g %m %y\\n' | sort -u`,
  )
  return {
    // containerd gives its directory another mode, and here that is a mount, which stays.
    files: files.split('\n').filter((line) => !line.startsWith('/var/lib/containerd ')),
    users: await of('cut -d: -f1 /etc/passwd; cut -d: -f1 /etc/group'),
    units: await of(
      'systemctl list-unit-files --no-legend --plain; systemctl list-units --all --no-legend --plain --type=service,slice,mount | cut -d" " -f1 | grep -Ev "^(user|session|run-credentials)" | sort',
    ),
    links: await of('ip -o link | cut -d: -f2 | sort; ip route'),
    tables: await of('nft list tables'),
    chains: await of('nft list ruleset'),
    settings: await of('sysctl net.ipv4.ip_forward'),
    mounts: await of("cut -d' ' -f5 /proc/self/mountinfo | grep -v '^/run/user' | sort"),
  }
}

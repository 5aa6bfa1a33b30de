import type { Machine } from '../../lab/hosts/machine.ts'
/** Observable state of a host. */
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

/**
 * Reads the state of a host. The list of files leaves out logs, temporary files, and the user and group
 * files.
 */
export async function takeHostSnapshot(host: Machine): Promise<HostSnapshot> {
  const readOutput = async (script: string): Promise<string> => (await host.script(script)).stdout
  const files = await readOutput(
    `find / /var/lib/etcd /var/lib/kubelet /var/lib/containerd -xdev \\( -path /var/log/journal -o -path /tmp -o -path /var/tmp -o -path /root \\) -prune -o ! -name 'passwd*' ! -name 'group*' ! -name '*shadow*' ! -name '.pwd.lock' ! -path '/etc/sub?id*' ! -path '/var/log/*tmp' ! -path /var/log/lastlog ! -path /var/log/faillog -printf '%p %u:%g %m %y\\n' | sort -u`,
  )
  return {
    // Ignores /var/lib/containerd: in the lab this directory is a mount, which `reset` cannot remove, and
    // containerd changes its mode.
    files: files.split('\n').filter((line) => !line.startsWith('/var/lib/containerd ')),
    users: await readOutput('cut -d: -f1 /etc/passwd; cut -d: -f1 /etc/group'),
    units: await readOutput(
      'systemctl list-unit-files --no-legend --plain; systemctl list-units --all --no-legend --plain --type=service,slice,mount | cut -d" " -f1 | grep -Ev "^(user|session|run-credentials)" | sort',
    ),
    // The number after @ belongs to the other end of a veth pair and changes when the host starts again.
    links: await readOutput('ip -o link | cut -d: -f2 | cut -d@ -f1 | sort; ip route; ip -6 route'),
    tables: await readOutput('nft list tables'),
    chains: await readOutput('nft list ruleset'),
    settings: await readOutput('sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding'),
    mounts: await readOutput("cut -d' ' -f5 /proc/self/mountinfo | grep -v '^/run/user' | sort"),
  }
}

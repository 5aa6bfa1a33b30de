import type { Host } from '../../lab/hosts/host.ts'
import { areAllWorking } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'
import { buildWaitScript } from './heal-rows-process.ts'
import type { HealCluster } from './heal-cluster.ts'

const common = {
  expects: 'waits-for-recovery',
  runs: 1,
  timeoutMs: 240_000,
  runWithoutAgents: false,
  clients: 'elsewhere',
  expectNoRestarts: true,
} as const

const minute = 60_000
/** Minutes during which no API server is reachable. A lower value saves time while the suite is developed. */
const apiDownMinutes = Number(process.env['HEAL_API_DOWN_MINUTES'] ?? 10)
const quorumMinutes = 3

/** Faults of the network between hosts. Services must not restart because of these faults. */
export const networkRows: readonly HealRow[] = [
  buildPartitionRow('cp2', 'control-plane'),
  buildPartitionRow('w1', 'worker'),
  {
    ...{ ...common, id: 'partition-etcd', what: 'a control plane cut off from etcd alone', hosts: ['cp3'] },
    ...{ codes: ['ETCD_NO_QUORUM'], minDurationMs: minute, seconds: 110 },
    inject: async (_cluster, host) => dropPackets([host], () => matchPorts('2379, 2380')),
    undo: async (_cluster, host) => restoreTraffic([host]),
    isHealed: areAllWorking,
  },
  {
    ...{ ...common, id: 'quorum-lost', what: `no member of etcd reaches another, ${quorumMinutes} min` },
    ...{ hosts: ['cp1'], onAnyHost: true, codes: ['ETCD_QUORUM_LOST', 'ETCD_NO_QUORUM'] },
    ...{ minDurationMs: quorumMinutes * minute, seconds: 60 + quorumMinutes * 60 },
    inject: async ({ controlPlanes }) => dropPackets(controlPlanes.slice(1), () => matchPorts('2380')),
    undo: async ({ controlPlanes }) => restoreTraffic(controlPlanes),
    isHealed: isWorkingEverywhere,
  },
  {
    // Requests to 127.0.0.1 still work: the servers are healthy and only unreachable from outside.
    ...{ ...common, id: 'api-down', what: `no API server can be reached, ${apiDownMinutes} min` },
    ...{ hosts: ['cp1'], onAnyHost: true, codes: ['API_DOWN', 'API_UNREACHABLE'] },
    ...{ minDurationMs: apiDownMinutes * minute, seconds: 60 + apiDownMinutes * 60 },
    inject: async ({ controlPlanes }) =>
      dropPackets(controlPlanes, ({ address }) => [`ip daddr ${address} tcp dport 6443`]),
    undo: async ({ controlPlanes }) => restoreTraffic(controlPlanes),
    isHealed: isWorkingEverywhere,
  },
]

function buildPartitionRow(name: string, role: string): HealRow {
  return {
    ...{ ...common, id: `partition-${role}`, what: `a ${role.replace('-', ' ')} cut off from all others` },
    ...{ hosts: [name], codes: ['HOST_CUT_OFF'], minDurationMs: minute, seconds: 110 },
    async inject(cluster, host) {
      const others = cluster.others(host)
      await cluster.lab.partition(host, others)
      for (const { address } of others) {
        // Code 28 is a timeout. A refused connection would show that the host is still reachable.
        await host.script(`code=0
          curl -sko /dev/null -m 2 https://${address}:10250/ || code=$?
          [ $code = 28 ]`)
      }
    },
    undo: async ({ lab }) => lab.rejoin(),
    isHealed: areAllWorking,
  }
}

async function isWorkingEverywhere(cluster: HealCluster): Promise<boolean> {
  for (const host of cluster.hosts) if (!(await areAllWorking(cluster, host))) return false
  return true
}

const table = 'heal_fault'

/** Builds nftables matches for packets to and from these ports. */
function matchPorts(ports: string): string[] {
  return ['dport', 'sport'].map((direction) => `iifname != "lo" tcp ${direction} { ${ports} }`)
}

/**
 * Drops packets that arrive at a host and fulfil one of its nftables matches. Waits until each host has
 * dropped some packets.
 */
async function dropPackets(
  hosts: readonly Host[],
  buildMatches: (host: Host) => readonly string[],
): Promise<void> {
  for (const host of hosts) {
    const rules = buildMatches(host).map((match) => `    ${match} counter drop`)
    await host.script(`nft -f - <<'END'
table inet ${table} {
  chain arrivals {
    type filter hook input priority -300;
${rules.join('\n')}
  }
}
END
${buildWaitScript(`nft list table inet ${table} | grep -q 'packets [1-9]'`)}`)
  }
}

async function restoreTraffic(hosts: readonly Host[]): Promise<void> {
  for (const host of hosts) await host.script(`nft delete table inet ${table} 2>/dev/null || true`)
}

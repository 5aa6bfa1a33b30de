import type { Host } from '../../lab/hosts/host.ts'
import { allWorks } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'
import { soon } from './heal-rows-process.ts'
import type { HealScene } from './heal-cluster.ts'

const common = {
  expects: 'waits-for-world',
  runs: 1,
  within: 240_000,
  alone: false,
  clients: 'elsewhere',
  untouched: true,
} as const

const minute = 60_000
/** For those who try the suite itself. */
const apiDownMinutes = Number(process.env['HEAL_API_DOWN_MINUTES'] ?? 10)
const quorumMinutes = 3

/** What happens between machines. Nothing of it is a reason to touch a service anywhere. */
export const networkRows: readonly HealRow[] = [
  partition('cp2', 'control-plane'),
  partition('w1', 'worker'),
  {
    ...{ ...common, id: 'partition-etcd', what: 'a control plane cut off from etcd alone', hosts: ['cp3'] },
    ...{ codes: ['ETCD_NO_QUORUM'], lasts: minute, seconds: 110 },
    inject: async (_scene, host) => drop([host], () => fromOutside('2379, 2380')),
    undo: async (_scene, host) => hearAgain([host]),
    healed: allWorks,
  },
  {
    ...{ ...common, id: 'quorum-lost', what: `no member of etcd hears another, ${quorumMinutes} min` },
    ...{ hosts: ['cp1'], anywhere: true, codes: ['ETCD_QUORUM_LOST', 'ETCD_NO_QUORUM'] },
    ...{ lasts: quorumMinutes * minute, seconds: 60 + quorumMinutes * 60 },
    inject: async ({ controlPlanes }) => drop(controlPlanes.slice(1), () => fromOutside('2380')),
    undo: async ({ controlPlanes }) => hearAgain(controlPlanes),
    healed: everywhere,
  },
  {
    // Whoever asks at 127.0.0.1 is answered: servers are well, and nobody else hears of them.
    ...{ ...common, id: 'api-down', what: `no API server can be reached, ${apiDownMinutes} min` },
    ...{ hosts: ['cp1'], anywhere: true, codes: ['API_DOWN', 'API_NOT_REACHED'] },
    ...{ lasts: apiDownMinutes * minute, seconds: 60 + apiDownMinutes * 60 },
    inject: async ({ controlPlanes }) =>
      drop(controlPlanes, ({ address }) => [`ip daddr ${address} tcp dport 6443`]),
    undo: async ({ controlPlanes }) => hearAgain(controlPlanes),
    healed: everywhere,
  },
]

function partition(name: string, role: string): HealRow {
  return {
    ...{ ...common, id: `partition-${role}`, what: `a ${role.replace('-', ' ')} cut off from all others` },
    ...{ hosts: [name], codes: ['HOST_CUT_OFF'], lasts: minute, seconds: 110 },
    async inject(scene, host) {
      const others = scene.others(host)
      await scene.lab.partition(host, others)
      for (const { address } of others) {
        // To be refused would be an answer, too.
        await host.script(`code=0
          curl -sko /dev/null -m 2 https://${address}:10250/ || code=$?
          [ $code = 28 ]`)
      }
    },
    undo: async ({ lab }) => lab.rejoin(),
    healed: allWorks,
  }
}

async function everywhere(scene: HealScene): Promise<boolean> {
  for (const host of scene.hosts) if (!(await allWorks(scene, host))) return false
  return true
}

const table = 'heal_fault'

/** Both ways of what goes to these ports, or comes from them. */
function fromOutside(ports: string): string[] {
  return ['dport', 'sport'].map((way) => `iifname != "lo" tcp ${way} { ${ports} }`)
}

/** Loses all that arrives at hosts and is of one of these kinds; soon there is some of it. */
async function drop(hosts: readonly Host[], kinds: (host: Host) => readonly string[]): Promise<void> {
  for (const host of hosts) {
    const rules = kinds(host).map((kind) => `    ${kind} counter drop`)
    await host.script(`nft -f - <<'END'
table inet ${table} {
  chain arrivals {
    type filter hook input priority -300;
${rules.join('\n')}
  }
}
END
${soon(`nft list table inet ${table} | grep -q 'packets [1-9]'`)}`)
  }
}

async function hearAgain(hosts: readonly Host[]): Promise<void> {
  for (const host of hosts) await host.script(`nft delete table inet ${table} 2>/dev/null || true`)
}

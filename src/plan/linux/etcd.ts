import type { PlannedFile } from '../../contract/component-plan.ts'
import { etcdBorn, etcdLog } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { alternativeNames } from '../alternative-names.ts'
import { isEtcdMember, type LinuxScene } from '../context.ts'
import type { Member } from '../topology.ts'
import { ciphers } from '../tls-cipher-suites.ts'
import { etc, programDirectory } from './paths.ts'
import { diskSpace, local, remote } from './probes.ts'
import { confined, renderUnit, systemdService } from './unit.ts'

const name = 'etcd'
const directory = `${etc}/etcd`
const data = '/var/lib/etcd'
/** For probes and metrics, on the host itself, without encryption. */
const metrics = 'http://127.0.0.1:2381'

export const etcd: Planner<LinuxScene> = (scene) => {
  if (!isEtcdMember(scene)) return undefined
  const { host, address, identity, system, cluster } = scene
  const program = download(scene, name, programDirectory, { kind: 'archive', strip: 1 })
  const args = mergeArgs(
    {
      name: host.name,
      'data-dir': `${data}/data`,
      'listen-client-urls': `https://127.0.0.1:2379,https://${address}:2379`,
      'advertise-client-urls': `https://${address}:2379`,
      'listen-peer-urls': `https://${address}:2380`,
      'initial-advertise-peer-urls': `https://${address}:2380`,
      'listen-metrics-urls': metrics,
      'client-cert-auth': 'true',
      'trusted-ca-file': `${directory}/ca.crt`,
      'cert-file': `${directory}/server.crt`,
      'key-file': `${directory}/server.key`,
      'peer-client-cert-auth': 'true',
      'peer-trusted-ca-file': `${directory}/ca.crt`,
      'peer-cert-file': `${directory}/peer.crt`,
      'peer-key-file': `${directory}/peer.key`,
      'tls-min-version': 'TLS1.2',
      'cipher-suites': ciphers.join(','),
      'feature-gates': 'InitialCorruptCheck=true,CompactHashCheck=true',
      'quota-backend-bytes': String(8 * 2 ** 30),
      'snapshot-count': '10000',
      'watch-progress-notify-interval': '5s',
    },
    cluster.spec.components.etcd.args,
  )
  const names = alternativeNames(host.name, 'localhost', address, '127.0.0.1')
  const wish = { owner: name, authority: 'etcd', commonName: host.name } as const
  return component({
    name,
    stage: 'etcd',
    version: program.version,
    users: [name],
    directories: [
      { path: directory, owner: name, mode: '0700' },
      { path: data, owner: name, mode: '0700' },
    ],
    artifacts: [program],
    files: [
      textFile(`${directory}/ca.crt`, identity.authorities.etcd, { owner: name, mode: '0644' }),
      birthFile(birth('new', scene.topology.etcd, identity.id)),
      textFile(guardPath, guard, { owner: 'root', mode: '0644', restart: false }),
    ],
    certificates: [
      // Each member is a client of the others too.
      serverCertificate(scene, { ...wish, path: `${directory}/server` }, names, ['server', 'client']),
      serverCertificate(scene, { ...wish, path: `${directory}/peer` }, names, ['server', 'client']),
      // For people on this host: etcdctl, when nothing else works.
      clientCertificate(scene, { ...wish, path: `${directory}/client`, commonName: `etcdctl:${host.name}` }),
    ],
    service: systemdService(
      {
        name,
        description: 'etcd, where the cluster keeps all it knows',
        type: 'notify',
        user: name,
        command: [`${program.directory}/etcd`, ...flags(args)],
        memoryFloor: memoryFloor(name),
        settings: [
          ['EnvironmentFile', `${directory}/birth.env`],
          ['IOSchedulingClass', 'best-effort'],
          ['IOSchedulingPriority', '0'],
          ...confined(data),
        ],
      },
      system,
    ),
    probes: [
      // To start a member anew that is only slow costs the others an election.
      local({ name: 'livez', check: { kind: 'http', url: `${metrics}/livez` }, failures: 6 }),
      // It fails without a quorum, for which no restart is a remedy, and takes seven seconds to say so.
      remote({ name: 'readyz', check: { kind: 'http', url: `${metrics}/readyz` } }),
      // Beside its data, and never among them. Members expect a sign of life every 100 ms.
      remote({
        name: 'disk-latency',
        check: { kind: 'disk-latency', directory: data, within: 150 },
        every: 30_000,
      }),
      diskSpace(data),
    ],
  })
}

const guardPath = '/etc/systemd/system/etcd.service.d/born.conf'

/**
 * A member that has lost its data would start as one that is just born, and take part in votes as if it had never promised
 * anything. So it starts only where none was born yet, or where its data is. A file of its own: the unit stays as it was,
 * and nobody restarts for it.
 */
const guard = renderUnit([
  [
    'Unit',
    [
      ['ConditionPathExists', `|!${etcdBorn}`],
      ['ConditionDirectoryNotEmpty', `|${etcdLog}`],
    ],
  ],
])

const birthPath = `${directory}/birth.env`

/** Read at a member's birth alone, so that members which come later change nothing for it. */
function birthFile(text: string): PlannedFile {
  return { ...textFile(birthPath, text, { owner: name, restart: false }), once: true }
}

/** Who the members are by then, the new one among them, in etcd's own variables. */
function birth(state: 'new' | 'existing', members: readonly Member[], token: string): string {
  const all = members.map(({ name: member, address }) => `${member}=https://${address}:2380`)
  return [
    `ETCD_INITIAL_CLUSTER=${all.join(',')}`,
    `ETCD_INITIAL_CLUSTER_STATE=${state}`,
    `ETCD_INITIAL_CLUSTER_TOKEN=${token}`,
    '',
  ].join('\n')
}

/** The plan of a host that comes to an etcd which has these members, the host itself among them. */
export function joiningPlan(plan: NodePlan, members: readonly Member[]): NodePlan {
  const joining = birthFile(birth('existing', members, plan.cluster.id))
  const components = plan.components.map((one) => ({
    ...one,
    files: one.files.map((file) => (file.path === birthPath ? joining : file)),
  }))
  return { ...plan, components }
}

import type { PlannedFile } from '../../contract/component-plan.ts'
import { etcdInitializedFile, etcdWalDirectory } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { mergeArgs, tlsCipherSuites, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate, splitAlternativeNames } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, isEtcdMember, type LinuxPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import type { HostAddress } from '../topology.ts'
import { configRoot, linuxProgramDirectory } from './paths.ts'
import { isAdoptedHost } from './predecessors.ts'
import { diskSpaceProbe, planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, renderUnit, sandboxSettings } from './unit.ts'

const name = 'etcd'
const directory = `${configRoot}/etcd`
const data = '/var/lib/etcd'
/** Endpoint for probes and metrics. It has no TLS and is reachable only on the host itself. */
export const etcdMetricsUrl = 'http://127.0.0.1:2381'

export const planEtcd: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isEtcdMember(context)) return undefined
  const { host, address, identity, system, cluster, release } = context
  const program = planDownload(context, name, linuxProgramDirectory, { kind: 'archive', strip: 1 })
  const args = mergeArgs(
    {
      name: host.name,
      'data-dir': `${data}/data`,
      'listen-client-urls': `https://127.0.0.1:2379,https://${address}:2379`,
      'advertise-client-urls': `https://${address}:2379`,
      'listen-peer-urls': `https://${address}:2380`,
      'initial-advertise-peer-urls': `https://${address}:2380`,
      'listen-metrics-urls': etcdMetricsUrl,
      'client-cert-auth': 'true',
      'trusted-ca-file': `${directory}/ca.crt`,
      'cert-file': `${directory}/server.crt`,
      'key-file': `${directory}/server.key`,
      'peer-client-cert-auth': 'true',
      'peer-trusted-ca-file': `${directory}/ca.crt`,
      'peer-cert-file': `${directory}/peer.crt`,
      'peer-key-file': `${directory}/peer.key`,
      'tls-min-version': 'TLS1.2',
      'cipher-suites': tlsCipherSuites.join(','),
      'quota-backend-bytes': String(8 * 2 ** 30),
      'snapshot-count': '10000',
      ...release.flags.etcd,
    },
    cluster.spec.components.etcd.args,
  )
  const names = splitAlternativeNames(host.name, 'localhost', address, '127.0.0.1')
  const certificateOptions = { owner: name, ca: 'etcd', commonName: host.name } as const
  return buildComponentPlan({
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
      planTextFile(`${directory}/ca.crt`, identity.cas.etcd, { owner: name, mode: '0644' }),
      planBootstrapFile(
        // The member of an adopted host has data. If the data were lost, it must not begin a new cluster.
        renderBootstrapVariables(
          isAdoptedHost(context) ? 'existing' : 'new',
          context.topology.etcd,
          identity.id,
        ),
      ),
      planTextFile(startGuardPath, startGuard, { owner: 'root', restart: false }),
    ],
    certificates: [
      // etcd also uses these certificates as a client, for connections to itself and to its peers.
      planServerCertificate(context, { ...certificateOptions, path: `${directory}/server` }, names, [
        'server',
        'client',
      ]),
      planServerCertificate(context, { ...certificateOptions, path: `${directory}/peer` }, names, [
        'server',
        'client',
      ]),
      // Client certificate for etcdctl on this host, for emergencies.
      planClientCertificate(context, {
        ...certificateOptions,
        path: `${directory}/client`,
        commonName: `etcdctl:${host.name}`,
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'etcd key-value store',
        type: 'notify',
        user: name,
        command: [`${program.directory}/etcd`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
        settings: [
          ['EnvironmentFile', `${directory}/bootstrap.env`],
          ['IOSchedulingClass', 'best-effort'],
          ['IOSchedulingPriority', '0'],
          ...sandboxSettings(data),
        ],
      },
      system,
    ),
    probes: [
      // A restart of a slow member can cause an election, so the probe tolerates more failures.
      planLocalProbe({
        name: 'livez',
        check: { kind: 'http', url: `${etcdMetricsUrl}/livez` },
        failureThreshold: 6,
      }),
      // readyz fails without a quorum, and a restart cannot restore a quorum. A failing readyz responds after
      // seven seconds, so the default timeout of ten seconds is long enough.
      planRemoteProbe({ name: 'readyz', check: { kind: 'http', url: `${etcdMetricsUrl}/readyz` } }),
      // This probe measures how long writes take on the disk with the data of etcd, without touching the
      // data. A slow disk delays heartbeats, which members expect every 100 ms.
      planRemoteProbe({
        name: 'disk-latency',
        check: { kind: 'disk-latency', directory: data, maxMs: 150 },
        intervalMs: 30_000,
      }),
      diskSpaceProbe(data),
    ],
  })
}

const startGuardPath = '/etc/systemd/system/etcd.service.d/initialized.conf'

/**
 * Start condition that prevents a member without its data from starting as a new member. etcd starts only if
 * no member was initialized on the host, or if its data exists. The condition is in a drop-in file, so a
 * change of the condition does not change the unit and restart etcd.
 */
const startGuard = renderUnit([
  [
    'Unit',
    [
      ['ConditionPathExists', `|!${etcdInitializedFile}`],
      ['ConditionDirectoryNotEmpty', `|${etcdWalDirectory}`],
    ],
  ],
])

const bootstrapPath = `${directory}/bootstrap.env`

/**
 * Plans the file with the initial members. etcd reads the file only when a member is initialized. The file is
 * therefore written once and does not change when other members join later.
 */
function planBootstrapFile(text: string): PlannedFile {
  return { ...planTextFile(bootstrapPath, text, { owner: name, restart: false }), once: true }
}

/** Renders the etcd variables that list the initial members, including this host. */
function renderBootstrapVariables(
  state: 'new' | 'existing',
  members: readonly HostAddress[],
  token: string,
): string {
  const all = members.map(({ name: member, address }) => `${member}=https://${address}:2380`)
  return [
    `ETCD_INITIAL_CLUSTER=${all.join(',')}`,
    `ETCD_INITIAL_CLUSTER_STATE=${state}`,
    `ETCD_INITIAL_CLUSTER_TOKEN=${token}`,
    '',
  ].join('\n')
}

/** Changes the plan of a host so that its etcd joins existing members. `members` includes the host itself. */
export function toJoiningPlan(plan: NodePlan, members: readonly HostAddress[]): NodePlan {
  const joining = planBootstrapFile(renderBootstrapVariables('existing', members, plan.cluster.id))
  const components = plan.components.map((one) => ({
    ...one,
    files: one.files.map((file) => (file.path === bootstrapPath ? joining : file)),
  }))
  return { ...plan, components }
}

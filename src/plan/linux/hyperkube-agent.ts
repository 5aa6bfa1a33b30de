import { agentDirectory, authorityFiles } from '../../contract/ca-files.ts'
import type { Probe } from '../../contract/probe.ts'
import type { Service } from '../../contract/service.ts'
import { component, type Planner } from '../component.ts'
import { secretFile, textFile } from '../files.ts'
import { isControlPlane, isNode, type LinuxScene } from '../context.ts'
import { etc, ownProgram, programDirectory, state } from './paths.ts'
import { diskSpace, remote } from './probes.ts'
import { renderUnit, thrifty } from './unit.ts'

const name = 'hyperkube-agent'
const root = { owner: 'root' }

export const hyperkubeAgent: Planner<LinuxScene> = (scene) => {
  const { identity, version } = scene
  const authorities = [
    ['kubernetes', identity.authorities.kubernetes],
    ['etcd', identity.authorities.etcd],
    ['front-proxy', identity.authorities.frontProxy],
  ] as const
  return component({
    name,
    stage: 'prepare',
    version,
    directories: [
      { path: agentDirectory, owner: 'root', mode: '0700' },
      { path: `${state}/agent`, owner: 'root', mode: '0700' },
    ],
    artifacts: [
      { from: 'this-release', name: 'hyperkube', version, directory: programDirectory('hyperkube', version) },
    ],
    // Control planes renew certificates while no operator is near.
    files: isControlPlane(scene)
      ? authorities.flatMap(([authority, certificate]) => [
          textFile(authorityFiles(authority).certificates, certificate, {
            ...root,
            mode: '0644',
            restart: false,
          }),
          secretFile(authorityFiles(authority).privateKey, `${authority}-authority-key`, identity, {
            ...root,
            restart: false,
          }),
        ])
      : [],
    service: agentService(),
    probes: [diskSpace(`${state}/agent`), ...clockProbes(scene)],
  })
}

/** Nodes reach API servers anyway, which say in every answer what time it is. */
function clockProbes(scene: LinuxScene): readonly Probe[] {
  const { topology, address, cluster } = scene
  const others = topology.controlPlanes.filter((server) => server.address !== address)
  if (!isNode(scene) || others.length === 0) return []
  return [
    remote({
      name: 'clock',
      check: {
        kind: 'clock',
        servers: others.map((server) => `https://${server.address}:${cluster.spec.api.port}/livez`),
        authority: `${etc}/kubelet/ca.crt`,
        within: 2000,
      },
      every: 300_000,
      failures: 2,
    }),
  ]
}

/** The same on every host: it is there before anything is known of the host. */
export function agentService(): Service {
  const unit = renderUnit([
    [
      'Unit',
      [
        ['Description', 'hyperkube, which keeps this host as it was planned'],
        ['Wants', 'network-online.target'],
        ['After', 'network-online.target'],
        ['StartLimitIntervalSec', '0'],
      ],
    ],
    [
      'Service',
      [
        ['Type', 'notify'],
        // Node has no datagram sockets: a child of the agent, systemd-notify, speaks for it.
        ['NotifyAccess', 'all'],
        ['ExecStart', `${ownProgram} agent`],
        // One that hangs gives no sign of life, and is started anew as if it had ended.
        ['WatchdogSec', '100'],
        ['TimeoutStartSec', '60'],
        ['Restart', 'always'],
        ['RestartSec', '2'],
        // Keys pass through its memory, which must not come to lie on a disk.
        ['LimitCORE', '0'],
        // What it started must outlive it.
        ['KillMode', 'process'],
        thrifty,
      ],
    ],
    ['Install', [['WantedBy', 'multi-user.target']]],
  ])
  return { supervisor: 'systemd', name: `${name}.service`, unit }
}

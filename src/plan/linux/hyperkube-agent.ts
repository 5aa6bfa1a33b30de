import type { Probe } from '../../contract/probe.ts'
import { agentDirectory, locateCaFiles } from '../../contract/renewal.ts'
import type { ServiceSpec } from '../../contract/service.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  isControlPlane,
  isNode,
  type LinuxPlanContext,
} from '../context.ts'
import { planDownloadSettings } from '../download-route.ts'
import { planSecretFile, planTextFile } from '../files.ts'
import { configRoot, hyperkubeProgram, linuxProgramDirectory, stateRoot } from './paths.ts'
import { diskSpaceProbe, planRemoteProbe } from './probe-defaults.ts'
import { agentMallocThreshold, renderUnit } from './unit.ts'

const name = 'hyperkube-agent'
const root = { owner: 'root' }

export const planLinuxAgent: ComponentPlanner<LinuxPlanContext> = (context) => {
  const { identity, version } = context
  const cas = [
    ['kubernetes', identity.cas.kubernetes],
    ['etcd', identity.cas.etcd],
    ['front-proxy', identity.cas.frontProxy],
  ] as const
  return buildComponentPlan({
    name,
    stage: 'prepare',
    version,
    directories: [
      { path: agentDirectory, owner: 'root', mode: '0700' },
      { path: `${stateRoot}/agent`, owner: 'root', mode: '0700' },
    ],
    artifacts: [
      {
        from: 'this-release',
        name: 'hyperkube',
        version,
        directory: linuxProgramDirectory('hyperkube', version),
      },
    ],
    // Control planes have the CA files, because they renew certificates while no operator is connected.
    files: [
      ...planDownloadSettings(context, 'root', (file) => `${agentDirectory}/${file}`),
      ...(isControlPlane(context)
        ? cas.flatMap(([ca, certificate]) => [
            planTextFile(locateCaFiles(ca).certificates, certificate, {
              ...root,
              mode: '0644',
              restart: false,
            }),
            planSecretFile(locateCaFiles(ca).privateKey, `${ca}-ca-key`, identity, {
              ...root,
              restart: false,
            }),
          ])
        : []),
    ],
    service: buildLinuxAgentService(),
    probes: [diskSpaceProbe(`${stateRoot}/agent`), ...buildClockProbes(context)],
  })
}

/**
 * Builds probes that compare the host's clock with the Date headers of the other API servers, which every
 * node can reach.
 */
function buildClockProbes(context: LinuxPlanContext): readonly Probe[] {
  const { topology, address, cluster } = context
  const others = topology.controlPlanes.filter((server) => server.address !== address)
  if (!isNode(context) || others.length === 0) return []
  return [
    planRemoteProbe({
      name: 'clock',
      check: {
        kind: 'clock',
        servers: others.map((server) => `https://${server.address}:${cluster.spec.api.port}/livez`),
        caFile: `${configRoot}/kubelet/ca.crt`,
        maxMs: 2000,
      },
      intervalMs: 300_000,
      failureThreshold: 2,
    }),
  ]
}

/**
 * Builds the service of the agent. It is equal on every host, because the agent is installed before facts are
 * known.
 */
export function buildLinuxAgentService(): ServiceSpec {
  const unit = renderUnit([
    [
      'Unit',
      [
        ['Description', 'hyperkube agent'],
        ['Wants', 'network-online.target'],
        ['After', 'network-online.target'],
        ['StartLimitIntervalSec', '0'],
      ],
    ],
    [
      'Service',
      [
        ['Type', 'notify'],
        // Node.js has no Unix datagram sockets, so the child process systemd-notify sends the notifications.
        ['NotifyAccess', 'all'],
        ['ExecStart', `${hyperkubeProgram} agent`],
        // systemd restarts an agent that is stopped or hangs. The agent sends three notifications in these 20
        // seconds, and extends the time during a run.
        ['WatchdogSec', '20'],
        // The default signal, SIGABRT, can write a core dump and leaves a hung process 90 s to exit.
        ['WatchdogSignal', 'SIGKILL'],
        ['TimeoutStartSec', '60'],
        ['Restart', 'always'],
        ['RestartSec', '2'],
        // The agent has keys in memory, which must not reach the disk in a core dump.
        ['LimitCORE', '0'],
        // Child processes must survive a restart of the agent.
        ['KillMode', 'process'],
        agentMallocThreshold,
      ],
    ],
    ['Install', [['WantedBy', 'multi-user.target']]],
  ])
  return { supervisor: 'systemd', name: `${name}.service`, unit }
}

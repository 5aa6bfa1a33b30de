import {
  buildComponentPlan,
  type ComponentPlanner,
  isControlPlane,
  isEtcdMember,
  type LinuxPlanContext,
} from '../context.ts'
import { planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { findDevice } from '../topology.ts'
import { etcdMetricsUrl } from './etcd.ts'
import { configRoot } from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, type UnitSetting } from './unit.ts'

/** Its own unit, so that keepalived.service of the distribution stays as it is. */
export const keepalivedComponent = 'hyperkube-keepalived'
const directory = `${configRoot}/keepalived`
const runtimeDirectory = `/run/${keepalivedComponent}`
const heartbeat = `${runtimeDirectory}/heartbeat`
/** Programs of the host that the component calls. */
export const keepalivedPrograms = ['keepalived', 'curl']

/**
 * Plans keepalived, which gives the virtual IP to one control plane with a ready API server. It needs neither
 * the Kubernetes API nor an external load balancer.
 */
export const planHyperkubeKeepalived: ComponentPlanner<LinuxPlanContext> = (context) => {
  const { cluster, identity, system } = context
  const { virtualIP, port } = cluster.spec.api
  if (virtualIP === undefined || !isControlPlane(context)) return undefined
  const root = { owner: 'root' }
  return buildComponentPlan({
    name: keepalivedComponent,
    stage: 'controllers',
    needs: ['kube-apiserver'],
    directories: [{ path: directory, owner: 'root', mode: '0700' }],
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { ...root, restart: false }),
      planTextFile(`${directory}/check`, renderCheck(context), { ...root, restart: false }),
      planTextFile(`${directory}/keepalived.conf`, renderConfiguration(context, virtualIP), root),
    ],
    service: buildSystemdService(
      {
        name: keepalivedComponent,
        description: 'keepalived for the virtual IP of the Kubernetes API',
        // At a shutdown of the host the address moves before the API server stops.
        after: ['kube-apiserver'],
        type: 'exec',
        command: [
          '/usr/sbin/keepalived',
          '--dont-fork',
          // If a child process dies, the service must end, so that ExecStopPost removes the address.
          '--dont-respawn',
          '--vrrp',
          '--log-console',
          '--no-syslog',
          `--use-file=${directory}/keepalived.conf`,
          `--pid=${runtimeDirectory}/keepalived.pid`,
          `--vrrp_pid=${runtimeDirectory}/vrrp.pid`,
        ],
        memoryFloor: formatMemoryFloor(keepalivedComponent),
        settings: [...settings, ...removeAddress(virtualIP)],
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'heartbeat',
        check: { kind: 'file', path: heartbeat, maxAgeMs: 5000 },
        intervalMs: 5000,
      }),
      planRemoteProbe({
        name: 'virtual-ip',
        check: { kind: 'http', url: `https://${virtualIP}:${port}/readyz`, caFile: `${directory}/ca.crt` },
      }),
    ],
  })
}

/**
 * Seconds between two advertisements of the holder. The others take over after `downAdvertisements` of them
 * are missing. This takes longer than the 3.9 s in which a holder without quorum gives the address up: three
 * failed checks, the first of which begins up to one second after the fault. Fewer failures would move the
 * address whenever a busy API server responds slowly.
 */
const advertisementInterval = 1
const downAdvertisements = 5
const maxFailedChecks = 3
/** Must be shorter than a takeover, so that a hung keepalived loses the address before another host gets it. */
const watchdogSeconds = 4
/**
 * Seconds until systemd kills what is left of a stopped or killed keepalived, such as its check. Only then it
 * removes the address. Must be shorter than a takeover.
 */
const stopSeconds = 2

/**
 * Renders the check, which keepalived runs every second. It ends within that second. The etcd member is
 * checked too, because the API server notices a lost quorum only after several seconds.
 */
function renderCheck(context: LinuxPlanContext): string {
  const urls = [
    ...(isEtcdMember(context) ? [`${etcdMetricsUrl}/readyz`] : []),
    `https://127.0.0.1:${context.cluster.spec.api.port}/readyz`,
  ]
  const outputs = urls.map(() => '--output /dev/null')
  return [
    '# Succeeds if etcd and the API server of this host are ready.',
    `echo alive > ${heartbeat}`,
    // In the background: systemd may take longer than a second to confirm the notification.
    'NOTIFY_SOCKET=/run/systemd/notify systemd-notify WATCHDOG=1 &',
    `exec timeout 0.9 curl --silent --fail --fail-early --noproxy '*' --cacert ${directory}/ca.crt ${[...outputs, ...urls].join(' ')}`,
    '',
  ].join('\n')
}

function renderConfiguration(context: LinuxPlanContext, virtualIP: string): string {
  const { host, address, system, topology } = context
  const networkInterface = findDevice(system, address) ?? system.defaultInterface ?? ''
  const peers = topology.controlPlanes.filter((one) => one.address !== address)
  return [
    'global_defs {',
    `  router_id ${host.name}`,
    '  script_user root',
    '  enable_script_security',
    '  max_auto_priority -1',
    '}',
    'vrrp_script api {',
    // keepalived takes a script that cannot be executed for a success; a shell reports it as a failure.
    `  script "/bin/sh ${directory}/check"`,
    '  interval 1',
    '  timeout 1',
    `  fall ${maxFailedChecks}`,
    '  rise 1',
    '  init_fail',
    '}',
    'vrrp_instance api {',
    '  version 3',
    '  state BACKUP',
    // A host that recovers does not take the address back: each move ends the connections of clients.
    '  nopreempt',
    `  interface ${networkInterface}`,
    `  virtual_router_id ${toRouterId(virtualIP)}`,
    `  priority ${toPriority(topology.controlPlanes, address)}`,
    `  advert_int ${advertisementInterval}`,
    `  down_timer_adverts ${downAdvertisements}`,
    ...(peers.length === 0
      ? [`  mcast_src_ip ${address}`]
      : [
          `  unicast_src_ip ${address}`,
          '  check_unicast_src',
          '  unicast_peer {',
          ...peers.map((peer) => `    ${peer.address}`),
          '  }',
        ]),
    '  garp_master_delay 1',
    '  garp_master_refresh 10',
    '  virtual_ipaddress {',
    `    ${virtualIP}/32`,
    '  }',
    '  track_script {',
    '    api',
    '  }',
    '}',
    '',
  ].join('\n')
}

/** Derives the id of the VRRP instance from the last byte of the address, so that clusters differ. */
export function toRouterId(virtualIP: string): number {
  return Number(virtualIP.split('.').at(-1)) || 255
}

/**
 * Returns different priorities, in the order of the names. The difference delays the takeover by at least a
 * tenth of a second per host, so that two hosts never begin at the same time.
 */
function toPriority(controlPlanes: LinuxPlanContext['topology']['controlPlanes'], address: string): number {
  const step = Math.floor(208 / Math.max(8, controlPlanes.length))
  return 210 - step * controlPlanes.findIndex((one) => one.address === address)
}

const settings: readonly UnitSetting[] = [
  ['NotifyAccess', 'all'],
  ['WatchdogSec', String(watchdogSeconds)],
  ['WatchdogSignal', 'SIGKILL'],
  ['TimeoutStopSec', String(stopSeconds)],
  ['RuntimeDirectory', keepalivedComponent],
  ['NoNewPrivileges', 'yes'],
  // keepalived resets the groups of its check, which needs CAP_SETGID.
  ['CapabilityBoundingSet', 'CAP_NET_ADMIN CAP_NET_RAW CAP_SETGID'],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['PrivateTmp', 'yes'],
  ['LockPersonality', 'yes'],
  ['SystemCallArchitectures', 'native'],
]

/** Settings that remove the address of a keepalived that was killed. A second holder would answer clients. */
function removeAddress(virtualIP: string): readonly UnitSetting[] {
  const command = `-/usr/sbin/ip -4 address flush to ${virtualIP}/32`
  return [
    ['ExecStartPre', command],
    ['ExecStopPost', command],
  ]
}

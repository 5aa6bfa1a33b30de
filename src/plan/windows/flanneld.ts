import { win32 } from 'node:path'
import { flannelGroup, formatFlannelUser } from '../../contract/node-users.ts'
import { mergeArgs, toFlags } from '../args.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { renderFlannelNetwork } from '../flannel-network.ts'
import { planNode } from '../node.ts'
import { formatOverlayName } from './host-network.ts'
import {
  buildWindowsPlanPaths,
  componentSettingsPath,
  planPrivateDirectory,
  planWindowsKubeconfig,
  systemAccount,
  windowsCniDirectory,
  windowsProgramDirectory,
} from './paths.ts'
import { buildScmService, planServiceWrapper } from './service.ts'

const name = 'flanneld'
const healthPort = 10_246

export const planWindowsFlanneld: ComponentPlanner<WindowsPlanContext> = (context) => {
  const node = planNode(context)
  const { cluster, identity, address } = context
  const { network, components } = cluster.spec
  if (node === undefined || network.plugin !== 'flannel') return undefined
  const { addressDirectory, flannelSubnetFile } = buildWindowsPlanPaths(context)
  const settingsPath = componentSettingsPath(context, name)
  const { artifact, runner } = planServiceWrapper(context, name)
  const program = planDownload(context, 'flannel', windowsProgramDirectory(context), {
    kind: 'program',
    as: 'flanneld.exe',
  })
  const args = mergeArgs(
    {
      'kube-subnet-mgr': 'true',
      'kubeconfig-file': settingsPath('kubeconfig'),
      'net-config-path': settingsPath('net-conf.json'),
      'subnet-file': flannelSubnetFile,
      iface: address,
      'ip-masq': 'true',
      'iptables-forward-rules': 'false',
      'healthz-ip': '127.0.0.1',
      'healthz-port': String(healthPort),
    },
    components.flanneld.args,
  )
  return buildComponentPlan({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [
      settingsPath(),
      win32.dirname(flannelSubnetFile),
      addressDirectory,
      windowsCniDirectory,
    ].map(planPrivateDirectory),
    artifacts: [program, artifact],
    files: [
      planTextFile(settingsPath('ca.crt'), identity.cas.kubernetes, { owner: systemAccount }),
      planTextFile(settingsPath('net-conf.json'), renderFlannelNetwork(context, { nftables: false }), {
        owner: systemAccount,
      }),
      planWindowsKubeconfig(context, name),
    ],
    derivedFiles: [
      {
        path: win32.join(windowsCniDirectory, '10-flannel.conflist'),
        owner: systemAccount,
        mode: '0600',
        from: flannelSubnetFile,
        template: renderConflistTemplate(context),
      },
    ],
    certificates: [
      planClientCertificate(context, {
        path: settingsPath('client'),
        owner: systemAccount,
        ca: 'kubernetes',
        commonName: formatFlannelUser(node.name),
        organizations: [flannelGroup],
      }),
    ],
    service: buildScmService({
      name,
      description: 'flannel pod network',
      program: win32.join(program.directory, 'flanneld.exe'),
      arguments: toFlags(args),
      environment: { NODE_NAME: node.name },
      native: false,
      runner,
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: `http://127.0.0.1:${healthPort}/healthz` },
        intervalMs: 5000,
        timeoutMs: 5000,
        failureThreshold: 6,
      },
      {
        name: 'network',
        scope: 'local',
        check: { kind: 'hns-network', name: formatOverlayName(context), type: 'overlay' },
        intervalMs: 10_000,
        timeoutMs: 10_000,
        // Creating the HNS network interrupts the adapter, and flanneld waits almost a minute until the
        // adapter is back.
        failureThreshold: 9,
      },
    ],
  })
}

/**
 * Renders the template of the CNI configuration. Its variables come from the subnet file that flanneld
 * writes.
 */
function renderConflistTemplate({ cluster, address }: WindowsPlanContext): string {
  const { pods, services } = cluster.spec.network
  const config = {
    cniVersion: '1.0.0',
    name: formatOverlayName({ cluster }),
    plugins: [
      {
        type: 'win-overlay',
        // HNS API version that pods of containerd need.
        apiVersion: 2,
        // Windows pods have no resolv.conf, so they get their name server through the network plugin.
        capabilities: { dns: true },
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: '${FLANNEL_SUBNET|network}' }]],
          dataDir: buildWindowsPlanPaths({ cluster }).addressDirectory,
        },
        policies: [
          // Traffic that leaves the cluster uses the address of the host.
          endpointPolicy('OutBoundNAT', { Exceptions: [...pods, ...services] }),
          ...services.map((service) =>
            endpointPolicy('SDNRoute', { DestinationPrefix: service, NeedEncap: true }),
          ),
          endpointPolicy('ProviderAddress', { ProviderAddress: address }),
        ],
      },
    ],
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}

function endpointPolicy(type: string, settings: object): object {
  return { name: 'EndpointPolicy', value: { Type: type, Settings: settings } }
}

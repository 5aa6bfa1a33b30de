import { win32 } from 'node:path'
import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { flannelNetwork } from '../flannel-network.ts'
import { nodeOf } from '../node.ts'
import type { WindowsScene } from '../context.ts'
import { overlayName } from './overlay.ts'
import {
  closedDirectory,
  cniConfiguration,
  kubeconfigFile,
  owner,
  placesOf,
  programDirectory,
  settingsOf,
} from './paths.ts'
import { serviceWrapper } from './runner.ts'
import { scmService } from './service.ts'

const name = 'flanneld'
const healthPort = 10_246

export const flanneld: Planner<WindowsScene> = (scene) => {
  const node = nodeOf(scene)
  const { cluster, identity, address } = scene
  const { network, components } = cluster.spec
  if (node === undefined || network.plugin !== 'flannel') return undefined
  const { addresses, flannelSubnet } = placesOf(scene)
  const at = settingsOf(scene, name)
  const { artifact, runner } = serviceWrapper(scene, name)
  const program = download(scene, 'flannel', programDirectory(scene), {
    kind: 'program',
    as: 'flanneld.exe',
  })
  const args = mergeArgs(
    {
      'kube-subnet-mgr': 'true',
      'kubeconfig-file': at('kubeconfig'),
      'net-config-path': at('net-conf.json'),
      'subnet-file': flannelSubnet,
      iface: address,
      'ip-masq': 'true',
      'iptables-forward-rules': 'false',
      'healthz-ip': '127.0.0.1',
      'healthz-port': String(healthPort),
    },
    components.flanneld.args,
  )
  return component({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [at(), win32.dirname(flannelSubnet), addresses, cniConfiguration].map(closedDirectory),
    artifacts: [program, artifact],
    files: [
      textFile(at('ca.crt'), identity.authorities.kubernetes, { owner }),
      textFile(at('net-conf.json'), flannelNetwork(scene, { nftables: false }), { owner }),
      kubeconfigFile(scene, name),
    ],
    derivedFiles: [
      {
        path: win32.join(cniConfiguration, '10-flannel.conflist'),
        owner,
        mode: '0600',
        from: flannelSubnet,
        template: conflist(scene),
      },
    ],
    certificates: [
      clientCertificate(scene, {
        path: at('client'),
        owner,
        authority: 'kubernetes',
        commonName: 'hyperkube:flannel',
      }),
    ],
    service: scmService({
      name,
      description: 'flannel, the network of pods',
      program: win32.join(program.directory, 'flanneld.exe'),
      arguments: flags(args),
      environment: { NODE_NAME: node.name },
      native: false,
      runner,
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: `http://127.0.0.1:${healthPort}/healthz` },
        every: 5000,
        timeout: 5000,
        failures: 6,
      },
      {
        name: 'network',
        scope: 'local',
        check: { kind: 'hns-network', name: overlayName(scene), type: 'overlay' },
        every: 10_000,
        timeout: 10_000,
        // The host's adapter goes away when the network is made, and flannel waits most of a minute for it.
        failures: 9,
      },
    ],
  })
}

/** How pods are joined to the network, in terms of what flannel writes when it has got its part of it. */
function conflist({ cluster, address }: WindowsScene): string {
  const { pods, services } = cluster.spec.network
  const config = {
    cniVersion: '1.0.0',
    name: overlayName({ cluster }),
    plugins: [
      {
        type: 'win-overlay',
        // The one that containerd's pods need.
        apiVersion: 2,
        // Without a file for it, pods know their name server by their network alone.
        capabilities: { dns: true },
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: '${FLANNEL_SUBNET|network}' }]],
          dataDir: placesOf({ cluster }).addresses,
        },
        policies: [
          // Who leaves the cluster does so in the host's name.
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

import type { Probe } from '../../contract/probe.ts'
import { proxyPort } from '../apiserver-proxy-config.ts'
import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { flannelNetwork } from '../flannel-network.ts'
import { nodeOf } from '../node.ts'
import type { LinuxScene } from '../context.ts'
import { cniPlugins } from './containerd.ts'
import {
  cniConfiguration,
  etc,
  flannelSubnet,
  kubeconfigFile,
  kubeconfigPath,
  programDirectory,
} from './paths.ts'
import { local, remote } from './probes.ts'
import { hasNftables } from './packet-filter.ts'
import { environment, systemdService } from './unit.ts'

const name = 'flanneld'
const user = 'hyperkube:flannel'
const directory = `${etc}/flanneld`
const healthPort = 10_246
const configuration = `${cniConfiguration}/10-flannel.conflist`

export const flanneld: Planner<LinuxScene> = (scene) => {
  const node = nodeOf(scene)
  const { cluster, identity, system, address } = scene
  const { network, components } = cluster.spec
  if (node === undefined || network.plugin !== 'flannel') return undefined
  const program = download(scene, 'flannel', programDirectory, { kind: 'program', as: name })
  const args = mergeArgs(
    {
      'kube-subnet-mgr': 'true',
      'kubeconfig-file': `${directory}/kubeconfig`,
      'net-config-path': `${directory}/net-conf.json`,
      'subnet-file': flannelSubnet,
      iface: address,
      'ip-masq': 'true',
      'healthz-ip': '127.0.0.1',
      'healthz-port': String(healthPort),
    },
    components.flanneld.args,
  )
  const { backend, vni } = network.flannel
  return component({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: cniConfiguration, owner: 'root', mode: '0755' },
    ],
    artifacts: [program],
    files: [
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, { owner: 'root', mode: '0644' }),
      textFile(`${directory}/net-conf.json`, flannelNetwork(scene, { nftables: usesNftables(system) }), {
        owner: 'root',
      }),
      kubeconfigFile(scene, name, `https://127.0.0.1:${proxyPort}`, 'root'),
    ],
    derivedFiles: [
      {
        path: configuration,
        owner: 'root',
        mode: '0600',
        from: flannelSubnet,
        template: conflist,
      },
    ],
    certificates: [
      clientCertificate(scene, {
        path: `${directory}/client`,
        owner: 'root',
        authority: 'kubernetes',
        commonName: user,
      }),
    ],
    service: systemdService(
      {
        name,
        description: 'flannel, the network of pods',
        after: ['apiserver-proxy'],
        type: 'notify',
        command: [`${program.directory}/${name}`, ...flags(args)],
        memoryFloor: memoryFloor(name),
        settings: [environment('NODE_NAME', node.name)],
      },
      system,
    ),
    probes: [
      local({ name: 'healthz', check: { kind: 'http', url: `http://127.0.0.1:${healthPort}/healthz` } }),
      ...(backend === 'vxlan' ? overlayProbes(`flannel.${vni}`, node.name) : []),
      // What keeps a pod out is a file, a program, or that all addresses are taken: flannel started anew mends none of it.
      remote({
        name: 'sandbox',
        check: { kind: 'sandbox', configuration, plugins: cniPlugins(scene).directory },
        every: 120_000,
        timeout: 30_000,
        failures: 2,
      }),
    ],
  })
}

/** What flannel has made is the kernel's, and stays or goes without it. */
function overlayProbes(link: string, node: string): readonly Probe[] {
  return [
    local({ name: 'interface', check: { kind: 'interface', name: link } }),
    local({
      name: 'overlay',
      check: {
        kind: 'overlay',
        interface: link,
        subnetFile: flannelSubnet,
        node,
        kubeconfig: kubeconfigPath(name),
      },
      every: 15_000,
      timeout: 15_000,
      failures: 2,
    }),
  ]
}

/** Docker forbids all forwarding by iptables; only a rule of iptables allows it again. */
function usesNftables(system: LinuxScene['system']): boolean {
  return hasNftables(system) && !system.firewalls.includes('docker')
}

/** How pods are joined to the network, in terms of what flannel writes when it has got its part of it. */
const conflist = `${JSON.stringify(
  {
    cniVersion: '1.0.0',
    name: 'flannel',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        mtu: '${FLANNEL_MTU}',
        isDefaultGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: '${FLANNEL_SUBNET|network}' }]],
          routes: [{ dst: '${FLANNEL_NETWORK}' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  },
  undefined,
  2,
).replace('"${FLANNEL_MTU}"', '${FLANNEL_MTU}')}\n`

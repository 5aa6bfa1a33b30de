import { flannelGroup, formatFlannelUser } from '../../contract/node-users.ts'
import type { Probe } from '../../contract/probe.ts'
import { isDualStack } from '../../spec/network.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { mergeArgs, toFlags } from '../args.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type LinuxPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { renderFlannelNetwork } from '../flannel-network.ts'
import { planNode } from '../node.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { planCniPlugins } from './containerd.ts'
import { hasNftables } from './kube-proxy.ts'
import {
  configRoot,
  flannelSubnetFile,
  linuxCniDirectory,
  linuxKubeconfigPath,
  linuxProgramDirectory,
  planLinuxKubeconfig,
} from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, environmentSetting } from './unit.ts'

const name = 'flanneld'
const directory = `${configRoot}/flanneld`
const healthPort = 10_246
const cniConfigFile = `${linuxCniDirectory}/10-flannel.conflist`

export const planLinuxFlanneld: ComponentPlanner<LinuxPlanContext> = (context) => {
  const node = planNode(context)
  const { cluster, identity, system, address, ipv6Address } = context
  const { network, components } = cluster.spec
  if (node === undefined || network.plugin !== 'flannel') return undefined
  const program = planDownload(context, 'flannel', linuxProgramDirectory, { kind: 'program', as: name })
  const args = mergeArgs(
    {
      'kube-subnet-mgr': 'true',
      'kubeconfig-file': `${directory}/kubeconfig`,
      'net-config-path': `${directory}/net-conf.json`,
      'subnet-file': flannelSubnetFile,
      iface: address,
      ...(ipv6Address === undefined ? {} : { 'public-ipv6': ipv6Address }),
      'ip-masq': 'true',
      'healthz-ip': '127.0.0.1',
      'healthz-port': String(healthPort),
    },
    components.flanneld.args,
  )
  const { backend, vni } = network.flannel
  return buildComponentPlan({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: linuxCniDirectory, owner: 'root', mode: '0755' },
    ],
    artifacts: [program],
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { owner: 'root', mode: '0644' }),
      planTextFile(
        `${directory}/net-conf.json`,
        renderFlannelNetwork(context, { nftables: usesNftables(system) }),
        {
          owner: 'root',
        },
      ),
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${apiserverProxyPort}`, 'root'),
    ],
    derivedFiles: [
      {
        path: cniConfigFile,
        owner: 'root',
        mode: '0600',
        from: flannelSubnetFile,
        template: renderConflistTemplate(isDualStack(network)),
      },
    ],
    certificates: [
      planClientCertificate(context, {
        path: `${directory}/client`,
        owner: 'root',
        ca: 'kubernetes',
        commonName: formatFlannelUser(node.name),
        organizations: [flannelGroup],
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'flannel pod network',
        after: ['apiserver-proxy'],
        type: 'notify',
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
        settings: [environmentSetting('NODE_NAME', node.name)],
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'healthz',
        check: { kind: 'http', url: `http://127.0.0.1:${healthPort}/healthz` },
      }),
      ...(backend === 'vxlan'
        ? buildOverlayProbes(
            `flannel.${vni}`,
            isDualStack(network) ? `flannel-v6.${vni}` : undefined,
            node.name,
          )
        : []),
      // Usual causes of a failing sandbox are an invalid file, a missing program or exhausted addresses. A
      // restart of flanneld does not repair them.
      planRemoteProbe({
        name: 'sandbox',
        check: { kind: 'sandbox', configuration: cniConfigFile, plugins: planCniPlugins(context).directory },
        intervalMs: 120_000,
        timeoutMs: 30_000,
        failureThreshold: 2,
      }),
    ],
  })
}

/**
 * Probes the interface and the routes. They belong to the kernel, so they may exist without flanneld or be
 * missing while it runs.
 */
function buildOverlayProbes(link: string, ipv6Link: string | undefined, node: string): readonly Probe[] {
  return [
    planLocalProbe({ name: 'interface', check: { kind: 'interface', name: link } }),
    planLocalProbe({
      name: 'overlay',
      check: {
        kind: 'overlay',
        interface: link,
        ...(ipv6Link === undefined ? {} : { ipv6Interface: ipv6Link }),
        subnetFile: flannelSubnetFile,
        node,
        kubeconfig: linuxKubeconfigPath(name),
      },
      intervalMs: 15_000,
      timeoutMs: 15_000,
      failureThreshold: 2,
    }),
  ]
}

/**
 * True if flannel uses nftables. With Docker it does not: Docker blocks forwarding with iptables, and only an
 * iptables rule can allow it again.
 */
function usesNftables(system: LinuxPlanContext['system']): boolean {
  return hasNftables(system) && !system.firewalls.includes('docker')
}

/** Renders the template of the CNI configuration. Its variables come from the subnet file that flanneld writes. */
function renderConflistTemplate(ipv6: boolean): string {
  const families = ['FLANNEL', ...(ipv6 ? ['FLANNEL_IPV6'] : [])]
  const template = {
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
          ranges: families.map((prefix) => [{ subnet: `\${${prefix}_SUBNET|network}` }]),
          routes: families.map((prefix) => ({ dst: `\${${prefix}_NETWORK}` })),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
  const text = JSON.stringify(template, undefined, 2)
  return `${text.replace('"${FLANNEL_MTU}"', '${FLANNEL_MTU}')}\n`
}

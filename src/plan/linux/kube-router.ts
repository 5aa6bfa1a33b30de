import { formatKubeRouterUser, kubeRouterGroup } from '../../contract/node-users.ts'
import { isDualStack, usesKubeRouter } from '../../spec/network.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { mergeArgs, toFlags } from '../args.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type LinuxPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { planNode } from '../node.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { configRoot, linuxKubeconfigPath, linuxProgramDirectory, planLinuxKubeconfig } from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, type UnitSetting } from './unit.ts'

const name = 'kube-router'
const directory = `${configRoot}/kube-router`
export const kubeRouterHealthPort = 10_247

/** Plans kube-router, which enforces NetworkPolicy. Its router and its service proxy stay off. */
export const planLinuxKubeRouter: ComponentPlanner<LinuxPlanContext> = (context) => {
  const node = planNode(context)
  const { cluster, identity, system } = context
  const { network, components } = cluster.spec
  if (node === undefined || !usesKubeRouter(network)) return undefined
  const program = planDownload(context, name, linuxProgramDirectory, { kind: 'archive', strip: 0 })
  const kubeconfig = linuxKubeconfigPath(name)
  const args = mergeArgs(
    {
      kubeconfig,
      'run-firewall': 'true',
      'run-router': 'false',
      'run-service-proxy': 'false',
      'enable-cni': 'false',
      ...(isDualStack(network) ? { 'enable-ipv6': 'true' } : {}),
      'hostname-override': node.name,
      'service-cluster-ip-range': network.services.join(','),
      'service-node-port-range': network.nodePorts,
      'health-addr': '127.0.0.1',
      'health-port': String(kubeRouterHealthPort),
      // Metrics are off. If cluster.yml sets a port, only the host itself can read them.
      'metrics-addr': '127.0.0.1',
    },
    components.kubeRouter.args,
  )
  return buildComponentPlan({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [{ path: directory, owner: 'root', mode: '0700' }],
    artifacts: [program],
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { owner: 'root', mode: '0644' }),
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${apiserverProxyPort}`, 'root'),
    ],
    certificates: [
      planClientCertificate(context, {
        path: `${directory}/client`,
        owner: 'root',
        ca: 'kubernetes',
        commonName: formatKubeRouterUser(node.name),
        organizations: [kubeRouterGroup],
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'kube-router NetworkPolicy enforcement',
        after: ['apiserver-proxy'],
        type: 'exec',
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
        settings: sandbox,
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'healthz',
        check: { kind: 'http', url: `http://127.0.0.1:${kubeRouterHealthPort}/healthz` },
      }),
      // The health port also answers while kube-router enforces nothing, so the rules themselves are probed.
      planLocalProbe({
        name: 'policy-rules',
        check: {
          kind: 'policy-rules',
          node: node.name,
          kubeconfig,
          ...(isDualStack(network) ? { ipv6: true } : {}),
        },
        intervalMs: 15_000,
        timeoutMs: 15_000,
        failureThreshold: 2,
      }),
      // Without these permissions the rules stay as they are. A restart does not help.
      planRemoteProbe({
        name: 'policy-access',
        check: { kind: 'policy-access', kubeconfig },
        intervalMs: 60_000,
      }),
    ],
  })
}

/**
 * Limits of the process. iptables and ipset need root and two capabilities; legacy iptables writes a lock file
 * below /run.
 */
const sandbox: readonly UnitSetting[] = [
  ['NoNewPrivileges', 'yes'],
  ['CapabilityBoundingSet', 'CAP_NET_ADMIN CAP_NET_RAW'],
  ['ProtectSystem', 'strict'],
  ['ReadWritePaths', '/run'],
  ['ProtectHome', 'yes'],
  ['PrivateTmp', 'yes'],
  ['LockPersonality', 'yes'],
  ['SystemCallArchitectures', 'native'],
]

import type { Probe } from '../../contract/probe.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { type JsonObject, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate, splitAlternativeNames } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, isNode, type LinuxPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { buildKubeletArgs, buildKubeletConfiguration } from '../kubelet-settings.ts'
import { planNode } from '../node.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import {
  configRoot,
  containerdSocket,
  linuxKubeconfigPath,
  linuxProgramDirectory,
  planLinuxKubeconfig,
} from './paths.ts'
import { diskSpaceProbe, planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService } from './unit.ts'

const name = 'kubelet'
const directory = `${configRoot}/kubelet`
const data = '/var/lib/kubelet'
const root = { owner: 'root' }
const files = {
  config: `${directory}/config.yaml`,
  kubeconfig: `${directory}/kubeconfig`,
  caFile: `${directory}/ca.crt`,
  certificate: `${directory}/server.crt`,
  privateKey: `${directory}/server.key`,
}

export const planLinuxKubelet: ComponentPlanner<LinuxPlanContext> = (context) => {
  const node = planNode(context)
  if (!isNode(context) || node === undefined) return undefined
  const { identity, system, address, ipv6Address = address } = context
  const program = planDownload(context, name, linuxProgramDirectory, { kind: 'program', as: name })
  const user = `system:node:${node.name}`
  const own = { owner: 'root', ca: 'kubernetes', commonName: user } as const
  return buildComponentPlan({
    name,
    stage: 'node',
    version: program.version,
    needs: ['containerd', 'apiserver-proxy'],
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: data, owner: 'root', mode: '0750' },
    ],
    artifacts: [program],
    files: [
      planTextFile(files.caFile, identity.cas.kubernetes, { ...root, mode: '0644' }),
      planTextFile(
        files.config,
        context.yaml(buildKubeletConfiguration(context, files, buildPlatformSettings(context))),
        root,
      ),
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${apiserverProxyPort}`, 'root'),
    ],
    certificates: [
      planClientCertificate(context, {
        ...own,
        path: `${directory}/client`,
        organizations: ['system:nodes'],
      }),
      planServerCertificate(
        context,
        { ...own, path: `${directory}/server`, organizations: ['system:nodes'] },
        splitAlternativeNames(node.name, address, ipv6Address),
      ),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'kubelet node agent',
        after: ['containerd', 'apiserver-proxy'],
        type: 'notify',
        command: [`${program.directory}/${name}`, ...toFlags(buildKubeletArgs(context, files, {}))],
        memoryFloor: formatMemoryFloor(name),
        // Mount helpers that the kubelet has started must survive its restart.
        settings: [
          ['KillMode', 'process'],
          ['Delegate', 'yes'],
        ],
      },
      system,
    ),
    probes: [
      planLocalProbe({ name: 'healthz', check: { kind: 'http', url: 'http://127.0.0.1:10248/healthz' } }),
      planRemoteProbe({
        name: 'node-lease',
        // The kubelet renews its lease every 10 seconds. Kubernetes marks the node NotReady after 40 seconds,
        // so a lease older than 60 seconds is a real problem.
        check: { kind: 'node-lease', node: node.name, kubeconfig: files.kubeconfig, maxMs: 60_000 },
        intervalMs: 30_000,
        failureThreshold: 2,
      }),
      ...(usesKubeProxy(context.cluster.spec.network) ? [planPeerProbe(node.name)] : []),
      diskSpaceProbe(data),
    ],
  })
}

/** Builds the probe of other nodes. It uses the credentials of kube-proxy: a kubelet may not list other nodes. */
function planPeerProbe(node: string): Probe {
  const kubeconfig = linuxKubeconfigPath('kube-proxy')
  return planRemoteProbe({
    name: 'peer-nodes',
    check: { kind: 'peer-nodes', node, kubeconfig, count: 3 },
    // The interval is long, because the probed kubelets log every connection that sends no request.
    intervalMs: 60_000,
    failureThreshold: 2,
  })
}

function buildPlatformSettings({ system }: LinuxPlanContext): JsonObject {
  return {
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    // On hosts with cgroup v1 the systemd driver does not always work.
    cgroupDriver: system.cgroup.version === 2 ? 'systemd' : 'cgroupfs',
    ...(system.cgroup.version === 1 ? { failCgroupV1: false } : {}),
    enforceNodeAllocatable: ['pods'],
    // Pods never use swap, so the kubelet need not refuse to start on a host with swap.
    failSwapOn: false,
    ...(system.swap ? { memorySwap: { swapBehavior: 'NoSwap' } } : {}),
    resolvConf: system.resolver.file,
    podPidsLimit: 4096,
    seccompDefault: true,
    protectKernelDefaults: !system.container,
  }
}

import { win32 } from 'node:path'
import { formatKubeProxyUser, kubeProxyGroup } from '../../contract/node-users.ts'
import { type JsonObject, mergeArgs, mergeConfig, toFlags } from '../args.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { planNode } from '../node.ts'
import { formatOverlayName } from './host-network.ts'
import {
  buildWindowsPlanPaths,
  componentSettingsPath,
  planPrivateDirectory,
  planWindowsKubeconfig,
  systemAccount,
  windowsProgramDirectory,
} from './paths.ts'
import { buildScmService, planLogRunner } from './service.ts'

const name = 'kube-proxy'

export const planWindowsKubeProxy: ComponentPlanner<WindowsPlanContext> = (context) => {
  const node = planNode(context)
  if (node === undefined) return undefined
  const { cluster, host, identity } = context
  const { network, components } = cluster.spec
  const { sourceVipFile } = buildWindowsPlanPaths(context)
  const settingsPath = componentSettingsPath(context, name)
  const { artifact, runner } = planLogRunner(context, name)
  const program = planDownload(context, name, windowsProgramDirectory(context), {
    kind: 'program',
    as: 'kube-proxy.exe',
  })
  const args = mergeArgs(
    {
      config: settingsPath('config.yaml'),
      'hostname-override': node.name,
      // kube-proxy needs this flag before it reads its configuration file, so the setting in that file would
      // come too late.
      'windows-service': 'true',
    },
    components.kubeProxy.args,
    host.components?.kubeProxy?.args,
  )
  const path = settingsPath('config.yaml')
  const config = context.yaml(buildConfiguration(context))
  const flannel = network.plugin === 'flannel'
  return buildComponentPlan({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy', ...(flannel ? ['flanneld'] : [])],
    directories: [settingsPath(), win32.dirname(sourceVipFile)].map(planPrivateDirectory),
    artifacts: [program, artifact],
    files: [
      planTextFile(settingsPath('ca.crt'), identity.cas.kubernetes, { owner: systemAccount }),
      planWindowsKubeconfig(context, name),
      ...(flannel ? [] : [planTextFile(path, config, { owner: systemAccount })]),
    ],
    // When this file changes, kube-proxy exits, and the service manager starts it again.
    derivedFiles: flannel
      ? [{ path, owner: systemAccount, mode: '0600', from: sourceVipFile, template: config }]
      : [],
    certificates: [
      planClientCertificate(context, {
        path: settingsPath('client'),
        owner: systemAccount,
        ca: 'kubernetes',
        commonName: formatKubeProxyUser(node.name),
        organizations: [kubeProxyGroup],
      }),
    ],
    service: buildScmService({
      name,
      description: 'kube-proxy Service load balancing',
      program: win32.join(program.directory, 'kube-proxy.exe'),
      arguments: toFlags(args),
      native: true,
      runner,
    }),
    probes: [
      {
        name: 'livez',
        scope: 'local',
        check: { kind: 'http', url: 'http://127.0.0.1:10256/livez' },
        intervalMs: 5000,
        timeoutMs: 5000,
        // kube-proxy listens only after it has found the HNS network, which flanneld may still be creating.
        failureThreshold: 18,
      },
    ],
  })
}

/**
 * Builds the configuration of kube-proxy. Without flannel, cluster.yml must set the network name and the
 * source VIP.
 */
function buildConfiguration(context: WindowsPlanContext): JsonObject {
  const { cluster, host } = context
  const { components, network } = cluster.spec
  const [pods = ''] = network.pods
  const defaults: JsonObject = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'kernelspace',
    clusterCIDR: pods,
    clientConnection: { kubeconfig: componentSettingsPath(context, name)('kubeconfig') },
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '0.0.0.0:10256',
    winkernel: {
      enableDSR: true,
      ...(network.plugin === 'flannel'
        ? { networkName: formatOverlayName(context), sourceVip: '${SOURCE_VIP}' }
        : {}),
    },
  }
  return mergeConfig(defaults, components.kubeProxy.config, host.components?.kubeProxy?.config)
}

import { win32 } from 'node:path'
import { type JsonObject, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate, splitAlternativeNames } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { buildKubeletArgs, buildKubeletConfiguration } from '../kubelet-settings.ts'
import { planNode } from '../node.ts'
import { computeReservedResources } from '../reserved-resources.ts'
import {
  componentSettingsPath,
  containerdEndpoint,
  planPrivateDirectory,
  planWindowsKubeconfig,
  systemAccount,
  windowsProgramDirectory,
} from './paths.ts'
import { buildScmService, planLogRunner } from './service.ts'

/**
 * Name of the component and of its service. The kubelet looks up its service by this name when the host shuts
 * down.
 */
const name = 'kubelet'

export const planWindowsKubelet: ComponentPlanner<WindowsPlanContext> = (context) => {
  const node = planNode(context)
  if (node === undefined) return undefined
  const { identity, address } = context
  const settingsPath = componentSettingsPath(context, name)
  const { artifact, runner } = planLogRunner(context, name)
  const program = planDownload(context, name, windowsProgramDirectory(context), {
    kind: 'program',
    as: 'kubelet.exe',
  })
  const own = { owner: systemAccount, ca: 'kubernetes', commonName: `system:node:${node.name}` } as const
  const files = {
    config: settingsPath('config.yaml'),
    kubeconfig: settingsPath('kubeconfig'),
    caFile: settingsPath('ca.crt'),
    certificate: settingsPath('server.crt'),
    privateKey: settingsPath('server.key'),
  }
  const args = buildKubeletArgs(context, files, {
    // The default directory is below the data directory, where every user of the host could read the keys.
    'cert-dir': settingsPath('pki'),
    'windows-service': 'true',
    'windows-priorityclass': 'ABOVE_NORMAL_PRIORITY_CLASS',
  })
  return buildComponentPlan({
    name,
    stage: 'node',
    version: program.version,
    needs: ['containerd', 'apiserver-proxy'],
    directories: [
      ...[settingsPath(), settingsPath('pki')].map(planPrivateDirectory),
      // Pods read their volumes in this directory, and most pods do not run as administrator.
      { path: String.raw`C:\var\lib\kubelet`, owner: systemAccount, mode: '0755' },
    ],
    artifacts: [program, artifact],
    files: [
      planTextFile(files.caFile, identity.cas.kubernetes, { owner: systemAccount }),
      planTextFile(
        files.config,
        context.yaml(buildKubeletConfiguration(context, files, buildPlatformSettings(context))),
        { owner: systemAccount },
      ),
      planWindowsKubeconfig(context, name),
    ],
    certificates: [
      planClientCertificate(context, {
        ...own,
        path: settingsPath('client'),
        organizations: ['system:nodes'],
      }),
      planServerCertificate(
        context,
        { ...own, path: settingsPath('server'), organizations: ['system:nodes'] },
        splitAlternativeNames(node.name, address),
      ),
    ],
    service: buildScmService({
      name,
      description: 'kubelet node agent',
      program: win32.join(program.directory, 'kubelet.exe'),
      arguments: toFlags(args),
      native: true,
      runner,
      // Because of this dependency, Windows stops the kubelet before containerd on shutdown. The kubelet can
      // then still end its pods.
      dependsOn: ['containerd'],
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: 'http://127.0.0.1:10248/healthz' },
        intervalMs: 5000,
        timeoutMs: 5000,
        failureThreshold: 6,
      },
    ],
  })
}

function buildPlatformSettings(context: WindowsPlanContext): JsonObject {
  return {
    containerRuntimeEndpoint: containerdEndpoint,
    // The default is a Linux path, which does not exist on Windows.
    resolvConf: '',
    // Windows has no cgroups.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    hairpinMode: 'promiscuous-bridge',
    // Memory is reserved for the system, because Windows does not kill processes when memory runs out. It
    // pages until the host hangs.
    systemReserved: { memory: '2Gi', ...computeReservedResources(context).systemReserved },
  }
}

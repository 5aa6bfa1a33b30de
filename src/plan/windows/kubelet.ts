import { win32 } from 'node:path'
import { flags } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { kubeletArgs, kubeletConfiguration } from '../kubelet-settings.ts'
import type { JsonObject } from '../merge-config.ts'
import { alternativeNames } from '../alternative-names.ts'
import { nodeOf } from '../node.ts'
import { reserved } from '../reserved-resources.ts'
import type { WindowsScene } from '../context.ts'
import {
  closedDirectory,
  containerdEndpoint,
  kubeconfigFile,
  owner,
  programDirectory,
  settingsOf,
} from './paths.ts'
import { logRunner } from './runner.ts'
import { scmService } from './service.ts'

/** Also the service's name: under another one the kubelet does not find itself when the host shuts down. */
const name = 'kubelet'

export const kubelet: Planner<WindowsScene> = (scene) => {
  const node = nodeOf(scene)
  if (node === undefined) return undefined
  const { identity, address } = scene
  const at = settingsOf(scene, name)
  const { artifact, runner } = logRunner(scene, name)
  const program = download(scene, name, programDirectory(scene), { kind: 'program', as: 'kubelet.exe' })
  const own = { owner, authority: 'kubernetes', commonName: `system:node:${node.name}` } as const
  const files = {
    config: at('config.yaml'),
    kubeconfig: at('kubeconfig'),
    authority: at('ca.crt'),
    certificate: at('server.crt'),
    privateKey: at('server.key'),
  }
  const args = kubeletArgs(scene, files, {
    // Beside its data, its keys would be for every user of the host to read.
    'cert-dir': at('pki'),
    'windows-service': 'true',
    'windows-priorityclass': 'ABOVE_NORMAL_PRIORITY_CLASS',
  })
  return component({
    name,
    stage: 'node',
    version: program.version,
    needs: ['containerd', 'apiserver-proxy'],
    directories: [
      ...[at(), at('pki')].map(closedDirectory),
      // Pods read their volumes here, and most of them are no administrators.
      { path: String.raw`C:\var\lib\kubelet`, owner, mode: '0755' },
    ],
    artifacts: [program, artifact],
    files: [
      textFile(files.authority, identity.authorities.kubernetes, { owner }),
      textFile(files.config, scene.yaml(kubeletConfiguration(scene, files, settings(scene))), { owner }),
      kubeconfigFile(scene, name),
    ],
    certificates: [
      clientCertificate(scene, { ...own, path: at('client'), organizations: ['system:nodes'] }),
      serverCertificate(
        scene,
        { ...own, path: at('server'), organizations: ['system:nodes'] },
        alternativeNames(node.name, address),
      ),
    ],
    service: scmService({
      name,
      description: 'kubelet, which runs pods',
      program: win32.join(program.directory, 'kubelet.exe'),
      arguments: flags(args),
      native: true,
      runner,
      // When the host shuts down it ends pods first, and what it depends on waits for it.
      dependsOn: ['containerd'],
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: 'http://127.0.0.1:10248/healthz' },
        every: 5000,
        timeout: 5000,
        failures: 6,
      },
    ],
  })
}

function settings(scene: WindowsScene): JsonObject {
  return {
    containerRuntimeEndpoint: containerdEndpoint,
    // There is no such file, and the default names one.
    resolvConf: '',
    // There are no cgroups.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    hairpinMode: 'promiscuous-bridge',
    // Nothing ends a pod that takes too much; Windows itself then pages until it stands still.
    systemReserved: { memory: '2Gi', ...reserved(scene).systemReserved },
  }
}

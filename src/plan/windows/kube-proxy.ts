import { win32 } from 'node:path'
import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { type JsonObject, mergeConfig } from '../merge-config.ts'
import { nodeOf } from '../node.ts'
import type { WindowsScene } from '../context.ts'
import { overlayName } from './overlay.ts'
import { closedDirectory, kubeconfigFile, owner, placesOf, programDirectory, settingsOf } from './paths.ts'
import { logRunner } from './runner.ts'
import { scmService } from './service.ts'

const name = 'kube-proxy'

export const kubeProxy: Planner<WindowsScene> = (scene) => {
  const node = nodeOf(scene)
  if (node === undefined) return undefined
  const { cluster, host, identity } = scene
  const { network, components } = cluster.spec
  const { sourceVip } = placesOf(scene)
  const at = settingsOf(scene, name)
  const { artifact, runner } = logRunner(scene, name)
  const program = download(scene, name, programDirectory(scene), { kind: 'program', as: 'kube-proxy.exe' })
  const args = mergeArgs(
    {
      config: at('config.yaml'),
      'hostname-override': node.name,
      // It must know before it reads its configuration, where the same can be said too late.
      'windows-service': 'true',
    },
    components.kubeProxy.args,
    host.components?.kubeProxy?.args,
  )
  const path = at('config.yaml')
  const config = scene.yaml(configuration(scene))
  const flannel = network.plugin === 'flannel'
  return component({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy', ...(flannel ? ['flanneld'] : [])],
    directories: [at(), win32.dirname(sourceVip)].map(closedDirectory),
    artifacts: [program, artifact],
    files: [
      textFile(at('ca.crt'), identity.authorities.kubernetes, { owner }),
      kubeconfigFile(scene, name),
      ...(flannel ? [] : [textFile(path, config, { owner })]),
    ],
    // When this changes, kube-proxy ends by itself and is started again.
    derivedFiles: flannel ? [{ path, owner, mode: '0600', from: sourceVip, template: config }] : [],
    certificates: [
      clientCertificate(scene, {
        path: at('client'),
        owner,
        authority: 'kubernetes',
        commonName: 'system:kube-proxy',
      }),
    ],
    service: scmService({
      name,
      description: 'kube-proxy, which makes the addresses of services work',
      program: win32.join(program.directory, 'kube-proxy.exe'),
      arguments: flags(args),
      native: true,
      runner,
    }),
    probes: [
      {
        name: 'livez',
        scope: 'local',
        check: { kind: 'http', url: 'http://127.0.0.1:10256/livez' },
        every: 5000,
        timeout: 5000,
        // It does not listen before it has found the network, which flannel may just be making.
        failures: 18,
      },
    ],
  })
}

/** With another network than ours, its name and the address to send from are the person's to say. */
function configuration(scene: WindowsScene): JsonObject {
  const { cluster, host } = scene
  const { components, network } = cluster.spec
  const [pods = ''] = network.pods
  const ours: JsonObject = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'kernelspace',
    clusterCIDR: pods,
    clientConnection: { kubeconfig: settingsOf(scene, name)('kubeconfig') },
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '0.0.0.0:10256',
    winkernel: {
      enableDSR: true,
      ...(network.plugin === 'flannel'
        ? { networkName: overlayName(scene), sourceVip: '${SOURCE_VIP}' }
        : {}),
    },
  }
  return mergeConfig(ours, components.kubeProxy.config, host.components?.kubeProxy?.config)
}

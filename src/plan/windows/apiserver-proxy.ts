import { win32 } from 'node:path'
import { apiserverProxyConfig, proxyHealthPort } from '../apiserver-proxy-config.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import type { WindowsScene } from '../context.ts'
import { closedDirectory, owner, placesOf, programDirectory, settingsOf } from './paths.ts'
import { serviceWrapper } from './runner.ts'
import { scmService } from './service.ts'

const name = 'apiserver-proxy'

export const apiserverProxy: Planner<WindowsScene> = (scene) => {
  const { identity, version, host } = scene
  const at = settingsOf(scene, name)
  const memory = win32.join(placesOf(scene).state, name)
  const directory = programDirectory(scene)('hyperkube', version)
  const { artifact, runner } = serviceWrapper(scene, name)
  const config = apiserverProxyConfig(scene, {
    authority: at('ca.crt'),
    certificate: at('client.crt'),
    privateKey: at('client.key'),
    memory: win32.join(memory, 'servers.json'),
  })
  return component({
    name,
    stage: 'node',
    version,
    directories: [at(), memory].map(closedDirectory),
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    files: [
      // It reads both again by itself: a control plane more or less, or another authority, must not cut connections.
      textFile(at('ca.crt'), identity.authorities.kubernetes, { owner, restart: false }),
      textFile(at('config.json'), config, { owner, restart: false }),
    ],
    certificates: [
      clientCertificate(scene, {
        path: at('client'),
        owner,
        authority: 'kubernetes',
        commonName: `hyperkube:apiserver-proxy:${host.name}`,
        organizations: ['hyperkube:apiserver-proxies'],
      }),
    ],
    service: scmService({
      name,
      description: 'the way to whichever API server is well',
      program: win32.join(directory, 'hyperkube.exe'),
      arguments: [name, `--config=${at('config.json')}`],
      native: false,
      runner,
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: `http://127.0.0.1:${proxyHealthPort}/healthz` },
        every: 5000,
        timeout: 2000,
        failures: 3,
      },
    ],
  })
}

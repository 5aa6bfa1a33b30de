import { apiserverProxyConfig, proxyHealthPort, proxyPort } from '../apiserver-proxy-config.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { isNode, type LinuxScene } from '../context.ts'
import { etc, ownProgram, state } from './paths.ts'
import { local, remote } from './probes.ts'
import { confined, systemdService, thrifty } from './unit.ts'

const name = 'apiserver-proxy'
const directory = `${etc}/apiserver-proxy`
const memory = `${state}/apiserver-proxy`
const files = {
  authority: `${directory}/ca.crt`,
  certificate: `${directory}/client.crt`,
  privateKey: `${directory}/client.key`,
  memory: `${memory}/servers.json`,
}

export const apiserverProxy: Planner<LinuxScene> = (scene) => {
  if (!isNode(scene)) return undefined
  const { identity, system, host } = scene
  return component({
    name,
    stage: 'node',
    users: [name],
    directories: [
      { path: directory, owner: name, mode: '0700' },
      { path: memory, owner: name, mode: '0700' },
    ],
    files: [
      // It reads both again by itself: a control plane more or less, or another authority, must not cut connections.
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, {
        owner: name,
        mode: '0644',
        restart: false,
      }),
      textFile(`${directory}/config.json`, apiserverProxyConfig(scene, files), {
        owner: name,
        restart: false,
      }),
    ],
    certificates: [
      clientCertificate(scene, {
        path: `${directory}/client`,
        owner: name,
        authority: 'kubernetes',
        commonName: `hyperkube:apiserver-proxy:${host.name}`,
        organizations: ['hyperkube:apiserver-proxies'],
      }),
    ],
    service: systemdService(
      {
        name,
        description: 'the way to whichever API server is well',
        type: 'exec',
        user: name,
        command: [ownProgram, name, `--config=${directory}/config.json`],
        memoryFloor: memoryFloor(name),
        settings: [...confined(memory), thrifty],
      },
      system,
    ),
    probes: [
      local({
        name: 'healthz',
        check: { kind: 'http', url: `http://127.0.0.1:${proxyHealthPort}/healthz` },
      }),
      // Whoever answers there is elsewhere.
      remote({
        name: 'api',
        check: { kind: 'http', url: `https://127.0.0.1:${proxyPort}/readyz`, authority: files.authority },
        every: 20_000,
        failures: 2,
      }),
    ],
  })
}

import {
  apiserverProxyHealthPort,
  apiserverProxyPort,
  renderApiserverProxyConfig,
} from '../apiserver-proxy-config.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, isNode, type LinuxPlanContext } from '../context.ts'
import { planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { configRoot, hyperkubeProgram, stateRoot } from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, mallocThreshold, sandboxSettings } from './unit.ts'

const name = 'apiserver-proxy'
const directory = `${configRoot}/apiserver-proxy`
const stateDirectory = `${stateRoot}/apiserver-proxy`
const files = {
  caFile: `${directory}/ca.crt`,
  certificate: `${directory}/client.crt`,
  privateKey: `${directory}/client.key`,
  stateFile: `${stateDirectory}/servers.json`,
}

export const planLinuxApiserverProxy: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isNode(context)) return undefined
  const { identity, system, host } = context
  return buildComponentPlan({
    name,
    stage: 'node',
    users: [name],
    directories: [
      { path: directory, owner: name, mode: '0700' },
      { path: stateDirectory, owner: name, mode: '0700' },
    ],
    files: [
      // The proxy reloads both files without a restart, so a change of control planes or CAs does not cut
      // connections.
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, {
        owner: name,
        mode: '0644',
        restart: false,
      }),
      planTextFile(`${directory}/config.json`, renderApiserverProxyConfig(context, files), {
        owner: name,
        restart: false,
      }),
    ],
    certificates: [
      planClientCertificate(context, {
        path: `${directory}/client`,
        owner: name,
        ca: 'kubernetes',
        commonName: `hyperkube:apiserver-proxy:${host.name}`,
        organizations: ['hyperkube:apiserver-proxies'],
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'load balancer for the Kubernetes API servers',
        type: 'exec',
        user: name,
        command: [hyperkubeProgram, name, `--config=${directory}/config.json`],
        memoryFloor: formatMemoryFloor(name),
        settings: [...sandboxSettings(stateDirectory), mallocThreshold],
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'healthz',
        check: { kind: 'http', url: `http://127.0.0.1:${apiserverProxyHealthPort}/healthz` },
      }),
      // The proxy forwards this probe to an API server that may run on another host. A failure must therefore
      // not restart the proxy.
      planRemoteProbe({
        name: 'api',
        check: { kind: 'http', url: `https://127.0.0.1:${apiserverProxyPort}/readyz`, caFile: files.caFile },
        intervalMs: 20_000,
        failureThreshold: 2,
      }),
    ],
  })
}

import { win32 } from 'node:path'
import { apiserverProxyHealthPort, renderApiserverProxyConfig } from '../apiserver-proxy-config.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planTextFile } from '../files.ts'
import {
  buildWindowsPlanPaths,
  componentSettingsPath,
  planPrivateDirectory,
  systemAccount,
  windowsProgramDirectory,
} from './paths.ts'
import { buildScmService, planServiceWrapper } from './service.ts'

const name = 'apiserver-proxy'

export const planWindowsApiserverProxy: ComponentPlanner<WindowsPlanContext> = (context) => {
  const { identity, version, host } = context
  const settingsPath = componentSettingsPath(context, name)
  const stateDirectory = win32.join(buildWindowsPlanPaths(context).state, name)
  const directory = windowsProgramDirectory(context)('hyperkube', version)
  const { artifact, runner } = planServiceWrapper(context, name)
  const config = renderApiserverProxyConfig(context, {
    caFile: settingsPath('ca.crt'),
    certificate: settingsPath('client.crt'),
    privateKey: settingsPath('client.key'),
    stateFile: win32.join(stateDirectory, 'servers.json'),
  })
  return buildComponentPlan({
    name,
    stage: 'node',
    version,
    directories: [settingsPath(), stateDirectory].map(planPrivateDirectory),
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    files: [
      // The proxy reloads both files without a restart, so a change of control planes or CAs does not cut
      // connections.
      planTextFile(settingsPath('ca.crt'), identity.cas.kubernetes, { owner: systemAccount, restart: false }),
      planTextFile(settingsPath('config.json'), config, { owner: systemAccount, restart: false }),
    ],
    certificates: [
      planClientCertificate(context, {
        path: settingsPath('client'),
        owner: systemAccount,
        ca: 'kubernetes',
        commonName: `hyperkube:apiserver-proxy:${host.name}`,
        organizations: ['hyperkube:apiserver-proxies'],
      }),
    ],
    service: buildScmService({
      name,
      description: 'load balancer for the Kubernetes API servers',
      program: win32.join(directory, 'hyperkube.exe'),
      arguments: [name, `--config=${settingsPath('config.json')}`],
      native: false,
      runner,
    }),
    probes: [
      {
        name: 'healthz',
        scope: 'local',
        check: { kind: 'http', url: `http://127.0.0.1:${apiserverProxyHealthPort}/healthz` },
        intervalMs: 5000,
        timeoutMs: 2000,
        failureThreshold: 3,
      },
    ],
  })
}
